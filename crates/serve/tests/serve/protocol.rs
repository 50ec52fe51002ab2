//! The protocol as bytes, by the numbers of its document, and what hostile clients send.

use fourcorners_serve::nbd::{
    Closing, Command, Errno, Export, Extent, MOST_PAYLOAD, Reply, Request, Session, Step,
};
use proptest::prelude::*;

fn export() -> Export {
    Export {
        name: "m4".into(),
        description: "Crucial".into(),
        bytes: 1 << 30,
        block_bytes: 512,
        read_only: false,
        trims: true,
        rotational: false,
    }
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let pair = |pair: &[u8]| {
        let text = std::str::from_utf8(pair).expect("ASCII");
        u8::from_str_radix(text, 16).expect("hexadecimal")
    };
    digits.chunks(2).map(pair).collect()
}

/// An option as a client sends it.
fn option(kind: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"IHAVEOPT".to_vec();
    bytes.extend_from_slice(&kind.to_be_bytes());
    bytes.extend_from_slice(&(data.len() as u32).to_be_bytes());
    bytes.extend_from_slice(data);
    bytes
}

/// The answer to one.
fn answered(kind: u32, answer: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = hex("0003e889045565a9");
    bytes.extend_from_slice(&kind.to_be_bytes());
    bytes.extend_from_slice(&answer.to_be_bytes());
    bytes.extend_from_slice(&(data.len() as u32).to_be_bytes());
    bytes.extend_from_slice(data);
    bytes
}

fn context_query(queries: &[&str]) -> Vec<u8> {
    let mut data = hex("00000002");
    data.extend_from_slice(b"m4");
    data.extend_from_slice(&(queries.len() as u32).to_be_bytes());
    for query in queries {
        data.extend_from_slice(&(query.len() as u32).to_be_bytes());
        data.extend_from_slice(query.as_bytes());
    }
    data
}

fn info(data: &[u8]) -> Vec<u8> {
    answered(7, 3, data)
}

/// What GO for the default export is answered with.
fn go_answer(flags: &str) -> Vec<u8> {
    let mut bytes = info(&hex(&format!("0000 0000000040000000 {flags}")));
    bytes.extend(info(&[&hex("0001")[..], b"m4"].concat()));
    bytes.extend(info(&[&hex("0002")[..], b"Crucial"].concat()));
    bytes.extend(info(&hex("0003 00000200 00001000 02000000")));
    bytes.extend(answered(7, 1, &[]));
    bytes
}

/// A session and what it has written so far.
struct Talk {
    session: Session,
    out: Vec<u8>,
}

impl Talk {
    fn new(export: Export) -> Talk {
        let mut out = Vec::new();
        let session = Session::new(export, &mut out);
        Talk { session, out }
    }

    /// After the handshake with these options and GO.
    fn open(export: Export, options: &[Vec<u8>]) -> Talk {
        let mut talk = Talk::new(export);
        let mut bytes = hex("00000003");
        options.iter().for_each(|option| bytes.extend_from_slice(option));
        bytes.extend(option(7, &hex("00000000 0000")));
        assert_eq!(talk.say(&bytes), Step::Starved);
        assert!(talk.session.is_open());
        talk.out.clear();
        talk
    }

    fn say(&mut self, bytes: &[u8]) -> Step {
        self.session.take(bytes);
        self.session.next(&mut self.out)
    }

    fn heard(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }
}

#[test]
fn the_greeting_and_every_option_to_the_byte() {
    let mut talk = Talk::new(export());
    assert_eq!(talk.heard(), [&b"NBDMAGICIHAVEOPT"[..], &hex("0003")].concat());
    assert_eq!(talk.say(&hex("00000003")), Step::Starved);
    let mut asks = |bytes: &[u8]| {
        assert_eq!(talk.say(bytes), Step::Starved);
        talk.heard()
    };
    // STARTTLS, PEEK_EXPORT and what nobody knows.
    for unknown in [5, 4, 12, 0x7fff_ffff] {
        assert_eq!(asks(&option(unknown, &[])), answered(unknown, 0x8000_0001, &[]));
    }
    let list = [answered(3, 2, b"\0\0\0\x02m4Crucial"), answered(3, 1, &[])].concat();
    assert_eq!(asks(&option(3, &[])), list);
    assert_eq!(asks(&option(3, b"x")), answered(3, 0x8000_0003, &[]));
    // Contexts without structured replies.
    assert_eq!(asks(&option(9, &context_query(&[]))), answered(9, 0x8000_0003, &[]));
    assert_eq!(asks(&option(8, &[])), answered(8, 1, &[]));
    let allocation = [&hex("00000001")[..], b"base:allocation"].concat();
    let one = |kind| [answered(kind, 4, &allocation), answered(kind, 1, &[])].concat();
    assert_eq!(asks(&option(9, &context_query(&[]))), one(9));
    assert_eq!(asks(&option(9, &context_query(&["base:"]))), one(9));
    assert_eq!(asks(&option(9, &context_query(&["qemu:"]))), answered(9, 1, &[]));
    assert_eq!(asks(&option(10, &context_query(&["base:"]))), answered(10, 1, &[]));
    assert_eq!(asks(&option(10, &context_query(&["qemu:x", "base:allocation"]))), one(10));
    assert_eq!(asks(&option(11, &[])), answered(11, 1, &[]));
    assert_eq!(asks(&option(8, &[])), answered(8, 0x8000_000a, &[]));
    // INFO of another export, a broken INFO, and GO.
    let unknown = answered(6, 0x8000_0006, b"there is one export here: \"m4\"");
    assert_eq!(asks(&option(6, b"\0\0\0\x01x\0\0")), unknown);
    assert_eq!(asks(&option(6, b"\0\0\0\x09x\0\0")), answered(6, 0x8000_0003, &[]));
    // HAS_FLAGS, FLUSH, FUA, TRIM, WRITE_ZEROES, DF, MULTI_CONN, CACHE, FAST_ZERO.
    assert_eq!(asks(&option(7, b"\0\0\0\x02m4\0\x01\0\x03")), go_answer("0ded"));
    assert!(talk.session.is_open());
}

#[test]
fn where_tls_is_required_nothing_is_told_before_it_and_all_after() {
    let mut out = Vec::new();
    let session = Session::with_tls(export(), &mut out);
    let mut talk = Talk { session, out };
    assert_eq!(talk.heard(), [&b"NBDMAGICIHAVEOPT"[..], &hex("0003")].concat());
    assert_eq!(talk.say(&hex("00000003")), Step::Starved);
    let why = b"this server asks for TLS and a client certificate";
    for kind in [3, 4, 6, 7, 8, 9, 10, 11, 99] {
        assert_eq!(talk.say(&option(kind, &[])), Step::Starved);
        assert_eq!(talk.heard(), answered(kind, 0x8000_0005, why));
    }
    assert_eq!(talk.say(&option(5, b"x")), Step::Starved);
    assert_eq!(talk.heard(), answered(5, 0x8000_0003, &[]));
    assert_eq!(talk.say(&option(5, &[])), Step::StartTls);
    assert_eq!(talk.heard(), answered(5, 1, &[]));
    // A second time it is on already; all else is told now.
    assert_eq!(talk.say(&option(5, &[])), Step::Starved);
    assert_eq!(talk.heard(), answered(5, 0x8000_0003, &[]));
    assert_eq!(talk.say(&option(7, &hex("00000000 0000"))), Step::Starved);
    assert!(talk.session.is_open());
    // An old client, and bytes that somebody put behind the request.
    let wrong = [
        (option(1, b"m4"), Closing::TlsRequired),
        ([option(5, &[]), vec![0; 7]].concat(), Closing::BytesBeforeTls(7)),
        (option(2, &[]), Closing::Disconnected),
    ];
    for (bytes, why) in wrong {
        let mut session = Session::with_tls(export(), &mut Vec::new());
        session.take(&[hex("00000003"), bytes].concat());
        assert_eq!(session.next(&mut Vec::new()), Step::Close(why));
    }
}

#[test]
fn an_old_client_gets_its_export_by_name() {
    let mut talk = Talk::new(export());
    talk.heard();
    assert_eq!(talk.say(&[hex("00000001"), option(1, b"m4")].concat()), Step::Starved);
    let expected = [hex("0000000040000000 0d6d"), vec![0; 124]].concat();
    assert_eq!(talk.heard(), expected);
    let mut talk = Talk::new(export());
    let step = talk.say(&[hex("00000003"), option(1, b"other")].concat());
    assert_eq!(step, Step::Close(Closing::NoSuchExport));
    let mut talk = Talk::new(export());
    talk.heard();
    let step = talk.say(&[hex("00000003"), option(2, &[])].concat());
    assert_eq!(step, Step::Close(Closing::Disconnected));
    assert_eq!(talk.heard(), answered(2, 1, &[]));
}

/// A request header: flags, type, cookie 7, offset, length.
fn header(flags: u16, kind: u16, offset: u64, length: u32) -> Vec<u8> {
    let mut bytes = hex("25609513");
    bytes.extend_from_slice(&flags.to_be_bytes());
    bytes.extend_from_slice(&kind.to_be_bytes());
    bytes.extend_from_slice(&7u64.to_be_bytes());
    bytes.extend_from_slice(&offset.to_be_bytes());
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes
}

fn request(command: Command, offset: u64, length: u64) -> Request {
    Request { cookie: 7, command, offset, length, data: Vec::new() }
}

#[test]
fn every_command_and_what_is_refused() {
    let structured = [option(8, &[]), option(10, &context_query(&["base:allocation"]))];
    let mut talk = Talk::open(export(), &structured);
    let zeroes = |fua, no_hole, fast| Command::WriteZeroes { fua, no_hole, fast };
    let status = |one| Command::BlockStatus { one };
    for (flags, kind, command) in [
        (0, 0, Command::Read { one_chunk: false }),
        (4, 0, Command::Read { one_chunk: true }),
        (1, 4, Command::Trim { fua: true }),
        (0, 5, Command::Cache),
        (0, 6, zeroes(false, false, false)),
        (0b1_0011, 6, zeroes(true, true, true)),
        (0, 7, status(false)),
        (8, 7, status(true)),
    ] {
        let step = talk.say(&header(flags, kind, 4096, 1024));
        assert_eq!(step, Step::Request(request(command, 4096, 1024)), "{kind} {flags}");
    }
    assert_eq!(talk.say(&header(0, 3, 0, 0)), Step::Request(request(Command::Flush, 0, 0)));
    let written = [header(1, 1, 512, 512), vec![9; 512]].concat();
    let expected =
        Request { data: vec![9; 512], ..request(Command::Write { fua: true }, 512, 512) };
    assert_eq!(talk.say(&written), Step::Request(expected));
    assert_eq!(talk.heard(), Vec::<u8>::new());

    let mut refused = |bytes: &[u8]| {
        assert_eq!(talk.say(bytes), Step::Starved);
        let heard = talk.heard();
        assert_eq!(heard[..16], hex("668e33ef 0001 8001 0000000000000007")[..]);
        u32::from_be_bytes(heard[20..24].try_into().expect("four bytes"))
    };
    for (bytes, errno) in [
        (header(0, 8, 0, 512), Errno::Inval),              // RESIZE
        (header(0, 99, 0, 512), Errno::Inval),             // unknown
        (header(1 << 7, 0, 0, 512), Errno::Inval),         // an unknown flag
        (header(2, 0, 0, 512), Errno::Inval),              // NO_HOLE on a read
        (header(0, 0, 1, 512), Errno::Inval),              // unaligned
        (header(0, 0, 0, 0), Errno::Inval),                // nothing
        (header(0, 0, 1 << 30, 512), Errno::Inval),        // behind the end
        (header(0, 0, u64::MAX - 511, 512), Errno::Inval), // wraps around
        (header(0, 6, 1 << 30, 512), Errno::NoSpc),        // a write behind the end
        (header(0, 0, 0, MOST_PAYLOAD + 512), Errno::Overflow),
        (header(0, 3, 0, 512), Errno::Inval), // a flush of a range
    ] {
        assert_eq!(refused(&bytes), errno as u32, "{bytes:?}");
    }
    assert_eq!(refused(&[header(0, 1, 1, 512), vec![1; 512]].concat()), Errno::Inval as u32);
    // Its data was passed over: the next request is understood.
    assert!(matches!(talk.say(&header(0, 0, 0, 512)), Step::Request(_)));
    assert_eq!(talk.say(&header(0, 2, 0, 0)), Step::Close(Closing::Disconnected));
}

#[test]
fn what_this_export_cannot_do_is_refused() {
    let mut talk = Talk::open(Export { read_only: true, ..export() }, &[]);
    let mut refused = |bytes: &[u8]| {
        assert_eq!(talk.say(bytes), Step::Starved);
        let heard = talk.heard();
        assert_eq!((&heard[..4], heard.len()), (&hex("67446698")[..], 16));
        u32::from_be_bytes(heard[4..8].try_into().expect("four bytes"))
    };
    assert_eq!(refused(&[header(0, 1, 0, 512), vec![1; 512]].concat()), Errno::Perm as u32);
    assert_eq!(refused(&header(0, 4, 0, 512)), Errno::Perm as u32);
    assert_eq!(refused(&header(0, 6, 0, 512)), Errno::Perm as u32);
    // No context was agreed on.
    assert_eq!(refused(&header(0, 7, 0, 512)), Errno::Inval as u32);
    let mut talk = Talk::open(Export { trims: false, ..export() }, &[]);
    talk.say(&header(0, 4, 0, 512));
    assert_eq!(talk.heard()[4..8], (Errno::NotSup as u32).to_be_bytes());
}

#[test]
fn replies_to_the_byte() {
    let read = request(Command::Read { one_chunk: false }, 0x1000, 4);
    let said = |options: &[Vec<u8>], reply: Reply<'_>| {
        let talk = Talk::open(export(), options);
        let mut out = Vec::new();
        talk.session.reply(&read, reply, &mut out);
        out
    };
    let cookie = "0000000000000007";
    let simple = |rest: &str| hex(&format!("67446698 {rest}"));
    assert_eq!(said(&[], Reply::Data(b"abcd")), simple(&format!("00000000 {cookie} 61626364")));
    assert_eq!(said(&[], Reply::Hole), simple(&format!("00000000 {cookie} 00000000")));
    assert_eq!(said(&[], Reply::Done), simple(&format!("00000000 {cookie}")));
    assert_eq!(said(&[], Reply::Failed(Errno::Io, "x")), simple(&format!("00000005 {cookie}")));
    let options = [option(8, &[])];
    let chunk = |kind: &str, rest: &str| hex(&format!("668e33ef 0001 {kind} {cookie} {rest}"));
    let offset = "0000000000001000";
    let data = chunk("0001", &format!("0000000c {offset} 61626364"));
    assert_eq!(said(&options, Reply::Data(b"abcd")), data);
    let hole = chunk("0002", &format!("0000000c {offset} 00000004"));
    assert_eq!(said(&options, Reply::Hole), hole);
    assert_eq!(said(&options, Reply::Done), chunk("0000", "00000000"));
    let failed = chunk("8001", "00000007 00000005 0001 78");
    assert_eq!(said(&options, Reply::Failed(Errno::Io, "x")), failed);
    let extents = [Extent { length: 512, hole: false }, Extent { length: 3 << 30, hole: true }];
    let told = chunk("0005", "00000014 00000001 00000200 00000000 80000000 00000003");
    assert_eq!(said(&options, Reply::Status(&extents)), told);
    let options = [option(11, &[])];
    let chunk =
        |kind: &str, rest: &str| hex(&format!("6e8a278c 0001 {kind} {cookie} {offset} {rest}"));
    let told = chunk(
        "0006",
        "0000000000000028 00000001 00000002 0000000000000200 0000000000000000 \
         00000000c0000000 0000000000000003",
    );
    assert_eq!(said(&options, Reply::Status(&extents)), told);
    let data = chunk("0001", &format!("000000000000000c {offset} 61626364"));
    assert_eq!(said(&options, Reply::Data(b"abcd")), data);
}

#[test]
fn extended_headers_have_long_lengths_and_say_whether_data_follow() {
    let mut talk = Talk::open(export(), &[option(11, &[])]);
    let header = |flags: u16, kind: u16, length: u64| {
        let mut bytes = hex("21e41c71");
        bytes.extend_from_slice(&flags.to_be_bytes());
        bytes.extend_from_slice(&kind.to_be_bytes());
        bytes.extend_from_slice(&hex("0000000000000007 0000000000000000"));
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes
    };
    let step = talk.say(&header(0, 4, 1 << 30));
    assert_eq!(step, Step::Request(request(Command::Trim { fua: false }, 0, 1 << 30)));
    let step = talk.say(&[header(1 << 5, 1, 512), vec![3; 512]].concat());
    assert!(matches!(step, Step::Request(Request { length: 512, .. })), "{step:?}");
    // A write without the flag has no data, and another command with it has some.
    assert_eq!(talk.say(&header(0, 1, 512)), Step::Starved);
    assert_eq!(talk.say(&[header(1 << 5, 0, 512), vec![3; 512]].concat()), Step::Starved);
    assert_eq!(talk.heard().len(), 2 * (32 + 6 + 66));
    assert!(matches!(talk.say(&header(0, 0, 512)), Step::Request(_)));
    let step = talk.say(&header(1 << 5, 1, u64::from(MOST_PAYLOAD) + 1));
    assert_eq!(step, Step::Close(Closing::PayloadTooLong(u64::from(MOST_PAYLOAD) + 1)));
}

#[test]
fn no_header_of_65536_that_begins_wrong_is_taken() {
    for wrong in 0..=u16::MAX {
        let mut talk = Talk::open(export(), &[]);
        let mut bytes = header(0, 0, 0, 512);
        bytes[2..4].copy_from_slice(&wrong.to_be_bytes());
        let step = talk.say(&bytes);
        match wrong {
            0x9513 => assert!(matches!(step, Step::Request(_))),
            _ => assert!(matches!(step, Step::Close(Closing::RequestMagic { .. })), "{wrong}"),
        }
    }
}

#[test]
fn of_65536_types_of_request_those_of_the_protocol_are_taken_and_the_others_answered() {
    let mut talk = Talk::open(export(), &[]);
    for kind in (0..=u16::MAX).filter(|kind| *kind != 2) {
        let mut bytes = header(0, kind, 0, if kind == 3 { 0 } else { 512 });
        bytes.resize(bytes.len() + if kind == 1 { 512 } else { 0 }, 0);
        let step = talk.say(&bytes);
        let taken = matches!(kind, 0 | 1 | 3 | 4 | 5 | 6);
        assert_eq!(matches!(step, Step::Request(_)), taken, "{kind}");
        assert_eq!(talk.heard().len(), if taken { 0 } else { 16 }, "{kind}");
    }
}

/// All that a session says to a stream that comes in these pieces.
fn played(stream: &[u8], cuts: &[usize]) -> (Vec<Step>, Vec<u8>) {
    let mut out = Vec::new();
    let mut session = Session::new(export(), &mut out);
    let mut steps = Vec::new();
    let mut from = 0;
    let cuts = cuts.iter().copied().chain([stream.len()]);
    for to in cuts {
        session.take(&stream[from..to.max(from)]);
        from = to.max(from);
        loop {
            match session.next(&mut out) {
                Step::Starved => break,
                step @ Step::Close(_) => {
                    steps.push(step);
                    return (steps, out);
                }
                step => steps.push(step),
            }
        }
    }
    (steps, out)
}

fn piece() -> impl Strategy<Value = Vec<u8>> {
    let bytes = || proptest::collection::vec(any::<u8>(), 0..40);
    prop_oneof![
        4 => (0..13u32, bytes()).prop_map(|(kind, data)| option(kind, &data)),
        2 => Just(option(8, &[])),
        2 => Just(option(7, &hex("00000000 0000"))),
        2 => Just(option(10, &context_query(&["base:allocation"]))),
        8 => (0..64u16, 0..10u16, 0..3000u64, 0..5u32).prop_map(|(flags, kind, at, blocks)| {
            let mut bytes = header(flags, kind, at * 512, blocks * 512);
            bytes.resize(bytes.len() + if kind == 1 { blocks as usize * 512 } else { 0 }, 5);
            bytes
        }),
        1 => bytes(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_stream_means_the_same_however_it_is_split(
        pieces in proptest::collection::vec(piece(), 0..20),
        mut cuts in proptest::collection::vec(0.0..1.0f64, 0..30),
    ) {
        let stream = [hex("00000003"), pieces.concat()].concat();
        cuts.sort_by(f64::total_cmp);
        let cuts: Vec<usize> =
            cuts.iter().map(|cut| (cut * stream.len() as f64) as usize).collect();
        let (whole, split) = (played(&stream, &[]), played(&stream, &cuts));
        prop_assert_eq!(whole, split);
    }

    #[test]
    fn any_bytes_are_refused_or_taken_and_never_kept_for_long(
        bytes in proptest::collection::vec(any::<u8>(), 0..2000), open in any::<bool>(),
    ) {
        let mut talk =
            if open { Talk::open(export(), &[option(8, &[])]) } else { Talk::new(export()) };
        for part in bytes.chunks(7) {
            talk.session.take(part);
            while matches!(talk.session.next(&mut talk.out), Step::Request(_)) {}
        }
        prop_assert!(talk.session.kept_bytes() < 1 << 17);
    }
}

#[test]
fn a_session_keeps_one_request_and_gives_its_room_back() {
    let mut talk = Talk::open(export(), &[]);
    let large = [header(0, 1, 0, MOST_PAYLOAD), vec![1; MOST_PAYLOAD as usize]].concat();
    let mut steps = large.chunks(1 << 18).map(|part| talk.say(part)).collect::<Vec<_>>();
    assert!(matches!(steps.pop(), Some(Step::Request(_))));
    assert!(talk.session.kept_bytes() <= 2 * MOST_PAYLOAD as usize + (1 << 20));
    talk.say(&header(0, 0, 0, 512));
    assert!(talk.session.kept_bytes() <= 1 << 20, "{} are kept", talk.session.kept_bytes());
    let step = talk.say(&header(0, 1, 0, MOST_PAYLOAD + 1));
    assert!(matches!(step, Step::Close(Closing::PayloadTooLong(_))));
}
