//! The loop with clients: our own, hostile ones, and those that others wrote.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::thread::JoinHandle;

use fourcorners_catalogue::{self as catalogue, Model};
use fourcorners_drive::{Nanos, Ssd, Target};
use fourcorners_linux::clock;
use fourcorners_serve::contents::{Contents, ContentsFile, Memory};
use fourcorners_serve::nbd::Export;
use fourcorners_serve::{
    Address, Listener, MOST_CONNECTIONS, Pace, Recording, Report, Server, Settings, Turn,
    TurnSettings,
};
use fourcorners_testing::skipped;

use crate::common::header;

/// Bytes of the drives here: 64 MiB, so that all of it is copied in a moment.
const BYTES: u64 = 64 << 20;

fn m4() -> Ssd {
    let set = [
        "nand.blocks_per_plane=32",
        &format!("capacity.sectors={}", BYTES / 512),
        "host.command_us=0",
    ];
    let set = set.map(String::from);
    let profile = catalogue::built_in("crucial-m4-256gb", &set);
    match profile.unwrap_or_else(|error| panic!("{error}")).model {
        Model::Ssd(model) => Ssd::new(&model).expect("it was checked"),
        Model::Hdd(_) => unreachable!("it is an SSD"),
    }
}

/// A drive that is served by a thread until it is dropped.
struct Served {
    dir: tempfile::TempDir,
    stop: Option<UnixStream>,
    server: Option<JoinHandle<Report>>,
}

impl Served {
    fn new(pace: Pace) -> Served {
        Served::with(pace, |_| Contents::Memory(Memory::new(u64::MAX)), false)
    }

    fn with(pace: Pace, contents: impl FnOnce(&Path) -> Contents, records: bool) -> Served {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let listener =
            Listener::open(&Address::Unix(dir.path().join("s")), None).expect("it is new");
        let (stop, stopped) = UnixStream::pair().expect("a pair of sockets");
        let contents = contents(dir.path());
        let recording = records
            .then(|| Recording::create(&dir.path().join("trace"), "a test").expect("it is new"));
        let server = std::thread::spawn(move || {
            let drive = m4();
            let export = Export {
                name: "m4".into(),
                description: String::new(),
                bytes: drive.geometry().bytes(),
                block_bytes: 512,
                read_only: false,
                trims: true,
                rotational: false,
            };
            let (door, until_last_disconnect) = (Nanos::ZERO, None);
            let settings = Settings { export, pace, door, until_last_disconnect, every: None };
            let turn = TurnSettings { trims: true, records, ..TurnSettings::default() };
            let mut server = Server::new(Turn::new(drive, contents, turn), settings);
            server.listen(listener);
            server.stop_at(stopped.into());
            if let Some(recording) = recording {
                server.record(recording);
            }
            server.run(|_| {}).expect("it can be served").1
        });
        Served { dir, stop: Some(stop), server: Some(server) }
    }

    fn uri(&self) -> String {
        format!("nbd+unix:///?socket={}", self.dir.path().join("s").display())
    }

    fn file(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }

    fn end(mut self) -> Report {
        drop(self.stop.take());
        self.server.take().expect("it runs").join().expect("it ends")
    }

    /// Runs a client; what it printed. `None` with a reason said if it is not there.
    fn client(&self, program: &str, args: &[&str]) -> Option<String> {
        let output = match Command::new(program).args(args).current_dir(self.dir.path()).output() {
            Ok(output) => output,
            Err(error) => {
                skipped(program, format!("{program}: {error}"));
                return None;
            }
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{program} {args:?}: {out}{err}");
        Some(out + &err)
    }

    /// A connection whose handshake is over.
    fn connect(&self) -> UnixStream {
        let mut stream = UnixStream::connect(self.dir.path().join("s")).expect("it listens");
        let mut hello = 3u32.to_be_bytes().to_vec();
        hello.extend_from_slice(b"IHAVEOPT\0\0\0\x01\0\0\0\0");
        stream.write_all(&hello).expect("it can be written");
        stream.read_exact(&mut [0; 28]).expect("it is greeted");
        stream
    }
}

/// Some data that are nowhere alike, with holes.
fn image(path: &str, seed: u64) {
    let mut state = seed;
    let mut data = vec![0; BYTES as usize];
    for block in data.chunks_mut(65536).step_by(3) {
        for word in block.chunks_mut(8) {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            word.copy_from_slice(&state.to_le_bytes());
        }
    }
    std::fs::write(path, data).expect("it can be written");
}

const VIRTUAL: Pace = Pace::Virtual { grace: Nanos(50_000) };

#[test]
fn nbdinfo_and_nbdcopy_with_four_connections_both_ways() {
    let served = Served::with(VIRTUAL, |_| Contents::Memory(Memory::new(u64::MAX)), true);
    let Some(info) = served.client("nbdinfo", &["--list", &served.uri()]) else { return };
    for told in ["export=\"m4\"", "can_multi_conn: true", "can_trim: true", "base:allocation"] {
        assert!(info.contains(told), "{told}: {info}");
    }
    image(&served.file("a"), 1);
    let copy = |from: &str, to: &str| {
        served.client("nbdcopy", &["--threads=4", "--connections=4", from, to])
    };
    if copy(&served.file("a"), &served.uri()).is_none() {
        return;
    }
    std::fs::write(served.file("b"), []).expect("it can be written");
    copy(&served.uri(), &served.file("b"));
    let read = |name: &str| std::fs::read(served.file(name)).expect("it is there");
    assert!(read("a") == read("b"), "what comes back is what went there");
    let map = served.client("nbdinfo", &["--map", &served.uri()]).unwrap_or_default();
    assert!(map.contains("hole,zero"), "{map}");
    let report = served.end();
    assert!(report.connections.all >= 9, "{report:?}");
    assert!(report.recorded.is_some_and(|it| it.ios > 200 && it.lost == 0));
}

#[test]
fn qemu_converts_compares_and_its_io_writes_zeroes_discards_and_forces() {
    let served = Served::with(
        VIRTUAL,
        |dir| {
            let made = ContentsFile::open(&dir.join("contents"), BYTES, &Default::default());
            Contents::File(made.expect("it is created"))
        },
        false,
    );
    let uri = served.uri();
    image(&served.file("a"), 2);
    let convert =
        ["convert", "-n", "-f", "raw", "-O", "raw", &served.file("a"), &uri].map(String::from);
    let convert: Vec<&str> = convert.iter().map(String::as_str).collect();
    if served.client("qemu-img", &convert).is_none() {
        return;
    }
    let compared = served
        .client("qemu-img", &["compare", "-f", "raw", "-F", "raw", &served.file("a"), &uri])
        .expect("it was there");
    assert!(compared.contains("identical"), "{compared}");
    served.client("qemu-img", &["bench", "-f", "raw", "-c", "2000", "-d", "16", "-w", &uri]);
    let commands = [
        "write -f -P 0x5a 1M 64k",
        "read -P 0x5a 1M 64k",
        "write -z 1M 4k",
        "read -P 0 1M 4k",
        "write -z -u 2M 64k",
        "read -P 0 2M 64k",
        "discard 1M 64k",
        "read -P 0 1M 64k",
        "flush",
    ];
    let args = commands.iter().flat_map(|command| ["-c", command]);
    let args: Vec<&str> = ["-f", "raw", "-n"].into_iter().chain(args).chain([&uri[..]]).collect();
    let said = served.client("qemu-io", &args).expect("it came with qemu-img");
    assert!(!said.contains("failed"), "{said}");
    let report = served.end();
    let names: Vec<&str> = report.operations.iter().map(|operation| operation.name).collect();
    assert_eq!(names, ["read", "write", "flush", "trim", "write_zeroes"]);
    assert_eq!((report.failed, report.connections.broken), (0, 0));
}

#[test]
fn fio_finds_by_its_checksums_what_it_wrote() {
    let served = Served::new(VIRTUAL);
    let uri = format!("--uri={}", served.uri());
    let job = [
        "--name=v",
        "--ioengine=nbd",
        &uri,
        "--rw=randwrite",
        "--bs=4k",
        "--iodepth=16",
        "--size=8M",
        "--verify=crc32c",
        "--verify_fatal=1",
        "--output-format=terse",
    ];
    let engines = Command::new("fio").arg("--enghelp").output();
    let has_nbd =
        engines.is_ok_and(|engines| String::from_utf8_lossy(&engines.stdout).contains("nbd"));
    if !has_nbd {
        return skipped("fio-nbd", "no fio with the engine nbd");
    }
    served.client("fio", &job);
    let report = served.end();
    let ios: Vec<(&str, u64)> =
        report.operations.iter().map(|operation| (operation.name, operation.ios)).collect();
    assert_eq!(ios[..2], [("read", 2048), ("write", 2048)]);
}

/// libnbd as a Python program uses it: many requests in flight, written with and without force unit access, zeroed,
/// trimmed, asked for where there is data; what comes back is compared, and a request too far must fail.
const LIBNBD: &str = r#"
import sys, nbd

drive = nbd.NBD()
drive.add_meta_context(nbd.CONTEXT_BASE_ALLOCATION)
drive.connect_uri(sys.argv[1])
assert drive.get_size() == 64 << 20 and drive.can_multi_conn() and drive.can_trim() and drive.can_fua()

sent = []
for number in range(64):
    data = nbd.Buffer.from_bytearray(bytearray([number + 1]) * 4096)
    flags = nbd.CMD_FLAG_FUA if number % 8 == 0 else 0
    sent.append((drive.aio_pwrite(data, number * 8192, flags=flags), data))
while drive.aio_in_flight():
    drive.poll(-1)
assert all(drive.aio_command_completed(cookie) for cookie, _ in sent)
drive.flush()
drive.trim(4096, 8192)
drive.zero(4096, 16384)
expected = [0 if number in (1, 2) else number + 1 for number in range(64)]
for number, byte in enumerate(expected):
    read = drive.pread(8192, number * 8192)
    assert read == bytes([byte]) * 4096 + bytes(4096), (number, byte)

seen = []
drive.block_status(1 << 20, 0, lambda name, offset, extents, error: seen.extend(extents) and 0 or 0)
assert sum(seen[0::2]) >= 1 << 20 and 3 in seen[1::2] and 0 in seen[1::2], seen

drive.set_strict_mode(0)
try:
    drive.pread(4096, 64 << 20)
except nbd.Error as error:
    print("refused:", error.errno)
else:
    raise SystemExit("a read behind the end was answered")
print("all is as it was written")
drive.shutdown()
"#;

#[test]
fn libnbd_of_python_reads_what_it_wrote_with_much_in_flight() {
    // Debian's, for which the binding is packaged; another Python may come first in the path.
    const PYTHON: &str = "/usr/bin/python3";
    let has = Command::new(PYTHON).args(["-c", "import nbd"]).output();
    if !has.is_ok_and(|has| has.status.success()) {
        return skipped("python3-libnbd", "no libnbd for /usr/bin/python3");
    }
    let served = Served::new(VIRTUAL);
    let said = served.client(PYTHON, &["-c", LIBNBD, &served.uri()]).expect("it is there");
    assert_eq!(said, "refused: EINVAL\nall is as it was written\n");
    let report = served.end();
    let names: Vec<&str> = report.operations.iter().map(|operation| operation.name).collect();
    assert_eq!(names, ["read", "write", "flush", "trim", "write_zeroes"]);
    // The read behind the end never came to the drive.
    assert_eq!((report.failed, report.connections.broken), (0, 0));
}

#[test]
fn hostile_clients_are_let_go_and_others_go_on() {
    let served = Served::new(VIRTUAL);
    let mut good = served.connect();
    let mut reads = |cookie: u64| {
        good.write_all(&header(0, cookie, 0, 512)).expect("it is served");
        let mut reply = [0; 16 + 512];
        good.read_exact(&mut reply).expect("it is answered");
        assert_eq!(reply[8..16], cookie.to_be_bytes());
    };
    reads(1);
    // Nonsense instead of a handshake, and instead of a request.
    let mut stream = UnixStream::connect(served.dir.path().join("s")).expect("it listens");
    stream.write_all(&[0xff; 1000]).expect("it can be written");
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert_eq!(rest.len(), 18, "the greeting and the end");
    let mut stream = served.connect();
    stream.write_all(&[0xff; 28]).expect("it can be written");
    assert_eq!(stream.read(&mut [0; 10]).expect("it is closed"), 0);
    reads(2);
    // Away in the middle of a write, and away without taking what was asked for.
    let mut stream = served.connect();
    stream.write_all(&[header(1, 1, 0, 65536), vec![1; 30_000]].concat()).expect("written");
    drop(stream);
    let mut stream = served.connect();
    for cookie in 0..200 {
        stream.write_all(&header(0, cookie, 0, 1 << 20)).expect("written");
    }
    drop(stream);
    reads(3);
    // More than there is room for.
    let many: Vec<UnixStream> =
        (0..200).map_while(|_| UnixStream::connect(served.dir.path().join("s")).ok()).collect();
    reads(4);
    drop(many);
    reads(5);
    let report = served.end();
    assert_eq!(report.connections.broken, 2, "{report:?}");
    assert!(report.connections.refused as usize >= 200 - MOST_CONNECTIONS, "{report:?}");
    assert_eq!(report.failed, 0);
}

#[test]
fn many_at_once_are_all_answered_with_what_they_wrote() {
    let served = Served::new(Pace::Dilated(1.0));
    std::thread::scope(|scope| {
        for lane in 0..6u64 {
            let mut stream = served.connect();
            scope.spawn(move || {
                let base = lane << 20;
                for round in 0..20u64 {
                    // More than the drive's queue takes, all before an answer is read.
                    let mut sent = Vec::new();
                    for index in 0..16 {
                        let byte = (lane * 40 + round) as u8;
                        sent.extend(header(1, index, base + index * 4096, 4096));
                        sent.extend(vec![byte; 4096]);
                    }
                    stream.write_all(&sent).expect("it is served");
                    stream.read_exact(&mut [0; 16 * 16]).expect("every write is answered");
                    stream.write_all(&header(0, 99, base, 65536)).expect("it is served");
                    let mut reply = vec![0; 16 + 65536];
                    stream.read_exact(&mut reply).expect("it is answered");
                    assert!(reply[16..].iter().all(|byte| *byte == (lane * 40 + round) as u8));
                }
            });
        }
    });
    let report = served.end();
    let count = |name| report.operations.iter().find(|it| it.name == name).map(|it| it.ios);
    assert_eq!((count("write"), count("read")), (Some(6 * 20 * 16), Some(6 * 20)));
    assert!(report.backlog_most > 0, "the queue was full");
}

#[test]
fn no_answer_is_earlier_than_the_drive_has_it() {
    let served = Served::new(Pace::Dilated(10.0));
    let mut stream = served.connect();
    for cookie in 0..50u64 {
        let began = clock();
        stream.write_all(&header(0, cookie, cookie << 16, 4096)).expect("it is served");
        stream.read_exact(&mut vec![0; 16 + 4096]).expect("it is answered");
        let took = clock().since(began);
        // A read takes this drive some tens of microseconds at least; ten times as long here.
        assert!(took > Nanos(100_000), "{took}");
    }
    let report = served.end();
    let read = &report.operations[0];
    assert!(read.latency_us.p50 > 10.0 && read.ios == 50, "{read:?}");
    assert_eq!(report.lateness_us.map(|late| late.max >= 0.0), Some(true));
}
