//! The control socket: what it answers, what it changes, and that clients go on meanwhile.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::JoinHandle;

use fourcorners_drive::config::SsdConfig;
use fourcorners_drive::{Nanos, Ssd, Target};
use fourcorners_serve::contents::{Contents, ContentsFile, Memory};
use fourcorners_serve::nbd::Export;
use fourcorners_serve::{
    Address, Control, DriveCounters, Faults, Listener, Pace, Recording, Report, Server, Settings,
    Turn, TurnSettings,
};
use serde_json::Value;

struct Served {
    dir: tempfile::TempDir,
    stop: Option<UnixStream>,
    server: Option<JoinHandle<Report>>,
}

impl Served {
    fn new(contents: impl FnOnce(&Path, u64) -> Contents, records: bool) -> Served {
        let turn = TurnSettings { trims: true, records, ..TurnSettings::default() };
        Served::with(&SsdConfig::default(), contents, turn, Pace::Dilated(1.0))
    }

    fn with(
        config: &SsdConfig,
        contents: impl FnOnce(&Path, u64) -> Contents,
        turn: TurnSettings,
        pace: Pace,
    ) -> Served {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let at = |name: &str| dir.path().join(name);
        let listener = Listener::open(&Address::Unix(at("s")), None).expect("it is new");
        let control = Control::open(&at("c")).expect("it is new");
        let (stop, stopped) = UnixStream::pair().expect("a pair of sockets");
        let drive = Ssd::new(config).expect("a drive");
        let bytes = drive.geometry().bytes();
        let contents = contents(dir.path(), bytes);
        let recording =
            turn.records.then(|| Recording::create(&at("t"), "a test").expect("it is new"));
        let server = std::thread::spawn(move || {
            let export = Export {
                name: "drive".into(),
                description: String::new(),
                bytes,
                block_bytes: 512,
                read_only: false,
                trims: true,
                rotational: false,
            };
            let settings = Settings {
                export,
                pace,
                door: Nanos::ZERO,
                until_last_disconnect: None,
                every: None,
            };
            let mut turn = Turn::new(drive, contents, turn);
            turn.expect_power_cuts();
            turn.inject(Faults::new(&[], 1));
            let mut server = Server::new(turn, settings);
            server.listen(listener);
            server.stop_at(stopped.into());
            server.steer(control, 1 << 30);
            server.tell_counters(|ssd: &Ssd| {
                Some(DriveCounters {
                    host_bytes: ssd.counters().host_sectors * 512,
                    nand_bytes: 0,
                    blocks_erased: 0,
                    blocks_retired: 0,
                    percentage_used: None,
                    read_only: false,
                    power_on_s: ssd.now().as_secs(),
                    temperature_c: None,
                    write_amplification: None,
                })
            });
            if let Some(recording) = recording {
                server.record(recording);
            }
            server.run(|_| {}).expect("it can be served").1
        });
        Served { dir, stop: Some(stop), server: Some(server) }
    }

    fn in_memory() -> Served {
        Served::new(|_, _| Contents::Memory(Memory::new(u64::MAX)), false)
    }

    fn connect(&self) -> Client {
        let mut stream = UnixStream::connect(self.dir.path().join("s")).expect("it listens");
        let mut hello = 3u32.to_be_bytes().to_vec();
        hello.extend_from_slice(b"IHAVEOPT\0\0\0\x01\0\0\0\0");
        stream.write_all(&hello).expect("it can be written");
        stream.read_exact(&mut [0; 28]).expect("it is greeted");
        Client(stream)
    }

    fn control(&self) -> Steered {
        let stream = UnixStream::connect(self.dir.path().join("c")).expect("it listens");
        Steered(BufReader::new(stream))
    }

    fn end(mut self) -> (Report, tempfile::TempDir) {
        drop(self.stop.take());
        (self.server.take().expect("it runs").join().expect("it ends"), self.dir)
    }
}

struct Steered(BufReader<UnixStream>);

impl Steered {
    fn say(&mut self, line: &str) -> Value {
        writeln!(self.0.get_mut(), "{line}").expect("it is read");
        self.hear()
    }

    fn hear(&mut self) -> Value {
        let mut answer = String::new();
        self.0.read_line(&mut answer).expect("it is answered");
        serde_json::from_str(&answer).expect("JSON")
    }

    fn does(&mut self, line: &str) {
        let answer = self.say(line);
        assert_eq!(answer["ok"], true, "{line}: {answer}");
    }

    fn refuses(&mut self, line: &str, told: &str) {
        let answer = self.say(line);
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(answer["ok"] == false && error.contains(told), "{line}: {answer}");
    }
}

struct Client(UnixStream);

impl Client {
    fn send(&mut self, kind: u16, offset: u64, length: u32) {
        let mut bytes = 0x2560_9513u32.to_be_bytes().to_vec();
        bytes.extend_from_slice(&[0; 2]);
        bytes.extend_from_slice(&kind.to_be_bytes());
        bytes.extend_from_slice(&[0; 8]);
        bytes.extend_from_slice(&offset.to_be_bytes());
        bytes.extend_from_slice(&length.to_be_bytes());
        self.0.write_all(&bytes).expect("it is served");
    }

    /// The error of the answer, 0 for none.
    fn answer(&mut self) -> u32 {
        let mut reply = [0; 16];
        self.0.read_exact(&mut reply).expect("it is answered");
        u32::from_be_bytes(reply[4..8].try_into().expect("four bytes"))
    }

    fn write(&mut self, offset: u64, byte: u8) -> u32 {
        self.send(1, offset, 8192);
        self.0.write_all(&[byte; 8192]).expect("it is served");
        self.answer()
    }

    /// The byte that is all there is.
    fn read(&mut self, offset: u64) -> u8 {
        self.read_of::<8192>(offset)
    }

    /// The same, of so many bytes.
    fn read_of<const LENGTH: usize>(&mut self, offset: u64) -> u8 {
        self.send(0, offset, LENGTH as u32);
        assert_eq!(self.answer(), 0);
        let mut data = [0; LENGTH];
        self.0.read_exact(&mut data).expect("it is read");
        assert!(data.iter().all(|byte| *byte == data[0]));
        data[0]
    }
}

#[test]
fn status_counts_and_faults_come_and_go_while_it_runs() {
    let served = Served::in_memory();
    let mode = served.dir.path().join("c").metadata().expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let (mut control, mut client) = (served.control(), served.connect());
    assert_eq!(client.write(0, 1), 0);
    let answer = control.say("status");
    let status = &answer["status"];
    assert_eq!(
        (&status["schema"], &status["event"]),
        (&"fourcorners.serve/1".into(), &"status".into())
    );
    assert_eq!(
        (&status["operations"][0]["ios"], &status["drive"]["host_bytes"]),
        (&1.into(), &8192.into())
    );
    control.does("fault eio-write@each=1");
    control.does("fault latency=+30ms@each=1");
    assert_eq!(client.write(0, 2), 5, "it is injected");
    let injected = &control.say("status")["status"]["injected"];
    assert_eq!(injected["eio-write@each=1"], 1);
    assert_eq!(control.say("clear eio-write@each=1")["cleared"]["eio-write@each=1"], 1);
    let began = std::time::Instant::now();
    assert_eq!(client.write(0, 3), 0, "it is no more");
    assert!(began.elapsed().as_millis() >= 30, "the other still is");
    control.does("clear");
    control.refuses("clear eio-write@each=1", "there is no fault");
    control.refuses("fault fire@n=1", "give KIND@WHEN");
    control.refuses("stop", "give status");
    assert_eq!(client.read(0), 3);
    assert_eq!(served.end().0.failed, 1);
}

/// Goes to and fro between two snapshots.
fn rolls_back(served: &Served) {
    let (mut control, mut client) = (served.control(), served.connect());
    client.write(1 << 20, 1);
    control.does("snapshot one");
    client.write(1 << 20, 2);
    client.write(2 << 20, 2);
    control.does("snapshot two");
    client.send(4, 1 << 20, 1 << 20);
    assert_eq!((client.answer(), client.read(1 << 20)), (0, 0), "it was trimmed");
    for (name, expected) in [("two", [2, 2]), ("one", [1, 0]), ("two", [2, 2])] {
        client.write(2 << 20, 9);
        control.does(&format!("rollback {name}"));
        assert_eq!([client.read(1 << 20), client.read(2 << 20)], expected, "{name}");
    }
    control.refuses("snapshot one", "already");
    control.refuses("rollback three", "there is no snapshot three");
    control.does("drop one");
    control.refuses("rollback one", "there is no snapshot one");
    let left = &control.say("snapshots")["snapshots"];
    assert_eq!(left.as_object().map(serde_json::Map::len), Some(1), "{left}");
    client.write(3 << 20, 7);
}

#[test]
fn contents_in_memory_go_back_to_what_they_were() {
    let served = Served::in_memory();
    rolls_back(&served);
    served.end();
}

#[test]
fn a_file_is_as_it_was_until_it_is_committed_or_served_no_more() {
    let served = Served::new(
        |dir, bytes| {
            let file = ContentsFile::open(&dir.join("f"), bytes, &Default::default());
            Contents::File(file.expect("it is created"))
        },
        false,
    );
    rolls_back(&served);
    let byte = |dir: &Path, at: u64| {
        let (file, mut byte) = (File::open(dir.join("f")).expect("it is there"), [0]);
        file.read_exact_at(&mut byte, at).expect("it is as large as the drive");
        byte[0]
    };
    let at = [1 << 20, 2 << 20, 3 << 20];
    assert_eq!(at.map(|at| byte(served.dir.path(), at)), [1, 0, 0], "of before the first snapshot");
    let mut control = served.control();
    control.does("commit");
    control.refuses("rollback two", "there is no snapshot two");
    assert_eq!(at.map(|at| byte(served.dir.path(), at)), [2, 2, 7]);
    let mut client = served.connect();
    control.does("snapshot again");
    client.write(1 << 20, 8);
    assert_eq!(byte(served.dir.path(), 1 << 20), 2);
    let (_, dir) = served.end();
    assert_eq!(byte(dir.path(), 1 << 20), 8, "the end stores it");
}

#[test]
fn the_drive_goes_back_too_if_it_was_kept_and_not_while_it_is_recorded() {
    let served = Served::in_memory();
    let (mut control, mut client) = (served.control(), served.connect());
    client.write(0, 1);
    control.does("snapshot bare");
    control.does("snapshot whole --with-state");
    let drive = |control: &mut Steered| {
        let status = control.say("status");
        let drive = &status["status"]["drive"];
        (drive["host_bytes"].clone(), drive["power_on_s"].as_f64().expect("a time"))
    };
    let before = drive(&mut control);
    for round in 0..50 {
        client.write(round * 8192, 2);
    }
    let after = drive(&mut control);
    assert!(after.0 != before.0 && after.1 > before.1, "{before:?}, {after:?}");
    control.does("rollback bare");
    assert_eq!((client.read(0), drive(&mut control).0), (1, after.0));
    control.refuses("rollback bare --with-state", "without --with-state");
    control.does("rollback whole --with-state");
    assert_eq!(drive(&mut control), before);
    assert_eq!(client.write(0, 3), 0, "it goes on from there");
    let later = drive(&mut control).1;
    assert!(later > before.1 && later < before.1 + 1.0, "{later}");
    served.end();
    let served = Served::new(|_, _| Contents::Memory(Memory::new(u64::MAX)), true);
    served.control().refuses("snapshot whole --with-state", "--record");
    served.end();
}

#[test]
fn a_command_waits_for_what_is_in_flight_and_requests_wait_for_it() {
    let served = Served::in_memory();
    let (mut control, mut client) = (served.control(), served.connect());
    client.write(0, 1);
    control.does("snapshot one");
    control.does("fault latency=+200ms@n=1");
    // It is in flight when the command comes, and the next request comes behind that.
    client.send(1, 0, 8192);
    client.0.write_all(&[2; 8192]).expect("it is served");
    std::thread::sleep(std::time::Duration::from_millis(50));
    writeln!(control.0.get_mut(), "rollback one").expect("it is read");
    std::thread::sleep(std::time::Duration::from_millis(50));
    let mut other = served.connect();
    assert_eq!(other.write(8192, 3), 0);
    assert_eq!(client.answer(), 0);
    assert_eq!(control.hear()["ok"], true);
    assert_eq!(
        (client.read(0), client.read(8192)),
        (1, 3),
        "the one before it is gone, the one behind it is there"
    );
    served.end();
}

#[test]
fn whoever_sends_nonsense_is_answered_or_let_go_and_others_go_on() {
    let served = Served::in_memory();
    let (mut control, mut client) = (served.control(), served.connect());
    let mut endless = served.control();
    let _ = endless.0.get_mut().write_all(&[b'x'; 100_000]);
    assert_eq!(endless.0.read(&mut [0; 10]).unwrap_or(0), 0, "it is let go");
    let mut bytes = served.control();
    bytes.0.get_mut().write_all(&[0xff, 0, 0xfe, b'\n', b'\n']).expect("it is read");
    assert_eq!([bytes.hear(), bytes.hear()].map(|answer| answer["ok"].clone()), [false, false]);
    let many: Vec<UnixStream> =
        (0..60).filter_map(|_| UnixStream::connect(served.dir.path().join("c")).ok()).collect();
    drop(many);
    // Asks, and goes without hearing.
    let mut gone = served.control();
    gone.0.get_mut().write_all("status\n".repeat(500).as_bytes()).expect("it is read");
    drop(gone);
    assert_eq!(client.write(0, 4), 0);
    control.does("status");
    assert_eq!(client.read(0), 4);
    served.end();
}

impl Served {
    /// A drive whose power is cut, in virtual time: there a cut depends on the I/Os alone.
    fn to_cut(config: &SsdConfig, turn: TurnSettings) -> Served {
        let contents = |_: &Path, _| Contents::Memory(Memory::new(u64::MAX));
        Served::with(config, contents, turn, Pace::Virtual { grace: Nanos(200_000) })
    }

    /// Flushed data at 0, and data that were only answered, at 1 MiB and behind it.
    fn written(&self) -> Client {
        let mut client = self.connect();
        assert_eq!(client.write(0, 1), 0);
        client.send(3, 0, 0);
        assert_eq!(client.answer(), 0);
        for n in 0..8 {
            assert_eq!(client.write((1 << 20) + n * 8192, 2), 0);
        }
        client
    }

    /// What is there once the power is back, of what [`Served::written`] wrote, each 4 KiB: what was flushed, and the rest.
    fn left(&self) -> (Vec<u8>, Vec<u8>) {
        let mut client = self.connect_once_on();
        let mut of = |from: u64, count: u64| {
            (0..count).map(|n| client.read_of::<4096>(from + n * 4096)).collect()
        };
        (of(0, 2), of(1 << 20, 16))
    }

    fn connect_once_on(&self) -> Client {
        loop {
            let mut stream = UnixStream::connect(self.dir.path().join("s")).expect("it listens");
            // Whoever comes while the power is off is turned away.
            if stream.read_exact(&mut [0; 18]).is_ok() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        self.connect()
    }
}

/// What is left after a cut, as written to the control socket.
fn left_after(cut: &str, protected: bool) -> (Vec<u8>, Vec<u8>) {
    let mut config = SsdConfig::default();
    config.buffer.power_loss_protected = protected;
    let served = Served::to_cut(&config, TurnSettings::default());
    let mut client = served.written();
    let mut control = served.control();
    let answer = control.say(cut);
    assert_eq!(answer["ok"], true, "{answer}");
    assert_eq!(client.0.read(&mut [0; 1]).expect("it has ended"), 0, "nobody is told anything");
    let left = served.left();
    let lost = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == 0).count() * 4096;
    // Capacitors promise all that was answered.
    let (promised, answered) = (lost(&left.0), lost(&left.1));
    let told = &answer["cut"];
    assert_eq!(
        (&told["promised_lost_bytes"], &told["answered_lost_bytes"]),
        (&promised.into(), &answered.into()),
        "{answer}, {left:?}"
    );
    assert_eq!(control.say("status")["status"]["power_cuts"], 1);
    served.end();
    left
}

#[test]
fn a_cut_takes_what_was_not_flushed_and_leaves_what_was() {
    // Without one all is there.
    let served = Served::to_cut(&SsdConfig::default(), TurnSettings::default());
    drop(served.written());
    let all = (vec![1; 2], vec![2; 16]);
    assert_eq!(served.left(), all);
    served.end();
    let honest = left_after("cut --off 0.05", false);
    assert!(honest.0 == [1, 1] && honest.1.contains(&0), "{honest:?}");
    assert_eq!(left_after("cut --off 0.05", true), all, "it has capacitors");
    // Where a flush does nothing, what was flushed is in the buffer still; on a busy machine the drive may have had the time
    // to write it out, but not always.
    let left_of_flushed = |ignores_flushes, class| {
        let turn = TurnSettings { ignores_flushes, ..TurnSettings::default() };
        let served = Served::to_cut(&SsdConfig::default(), turn);
        let mut client = served.connect();
        assert_eq!(client.write(0, 1), 0);
        client.send(3, 0, 0);
        assert_eq!(client.answer(), 0);
        served.control().does(&format!("cut {class} --off 0"));
        let left = served.connect_once_on().read(0);
        served.end();
        left
    };
    assert!((0..8).any(|_| left_of_flushed(true, "lost-flush") == 0));
    assert!((0..8).all(|_| left_of_flushed(false, "honest") == 1));
}

#[test]
fn the_same_class_and_seed_are_the_same_cut_and_another_seed_another() {
    let legal = |seed: u32| left_after(&format!("cut legal {seed} --off 0"), false);
    assert_eq!(legal(7), legal(7));
    let others = (8..12).map(legal).collect::<Vec<_>>();
    assert!(others.iter().any(|left| *left != legal(7)), "{others:?}");
    assert!(others.iter().all(|(flushed, _)| *flushed == [1, 1]), "{others:?}");
}

#[test]
fn while_the_power_is_off_nobody_comes_in_and_after_it_the_drive_goes_on() {
    let served = Served::to_cut(&SsdConfig::default(), TurnSettings::default());
    let mut control = served.control();
    served.written();
    let began = std::time::Instant::now();
    control.does("cut --off 0.3");
    control.refuses("cut", "the power is off");
    let mut stream = UnixStream::connect(served.dir.path().join("s")).expect("it is still ours");
    assert!(stream.read_exact(&mut [0; 18]).is_err(), "it is turned away");
    let mut client = served.connect_once_on();
    assert!(began.elapsed().as_millis() >= 300);
    assert_eq!((client.write(0, 5), client.read(0)), (0, 5));
    control.does("cut dead --off 0");
    let mut client = served.connect_once_on();
    assert_eq!(client.write(0, 6), 108, "ESHUTDOWN");
    control.does("clear dead@n=1");
    assert_eq!(client.write(0, 6), 0);
    control.refuses("cut lost-flush", "--ignore-flushes");
    control.refuses("cut softly", "softly is no way to lose data: give honest");
    assert_eq!(client.read(0), 6, "who is refused cuts nothing");
    assert_eq!(served.end().0.power_cuts, 2);
    // What is recorded would be wrong after it.
    let served = Served::new(|_, _| Contents::Memory(Memory::new(u64::MAX)), true);
    served.control().refuses("cut", "leave --record out");
    served.end();
}
