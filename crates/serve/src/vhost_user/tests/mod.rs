//! A served drive with drivers of our own, which do what drivers do and what they should not.

mod hostile;
mod service;

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use fourcorners_catalogue::{self as catalogue, Model};
use fourcorners_drive::{Nanos, Ssd};
use virtio_bindings::virtio_blk::{VIRTIO_BLK_T_IN, VIRTIO_BLK_T_OUT};
use vm_memory::{Bytes, GuestAddress};

use super::driver::{DATA, Driver};
use crate::contents::{Contents, Memory};
use crate::{
    Address, Control, FaultSpec, Faults, Listener, Pace, Recording, Report, Server, Settings, Turn,
    TurnSettings, nbd::Export,
};

/// Bytes of the drive.
const DRIVE_BYTES: u64 = 2_000_000 * 512;

/// Where the status of a request is put.
const STATUS: u64 = DATA + 16;

/// Where its data are put.
const BUFFER: u64 = DATA + 4096;

/// A small Crucial m4.
fn m4() -> Ssd {
    let set = ["nand.blocks_per_plane=32".into(), "capacity.sectors=2000000".into()];
    match catalogue::built_in("crucial-m4-256gb", &set).expect("it is built in").model {
        Model::Ssd(model) => Ssd::new(&model).expect("it was checked"),
        Model::Hdd(_) => unreachable!("it is an SSD"),
    }
}

/// How a drive is served.
struct Options {
    at: &'static str,
    pace: Pace,
    read_only: bool,
    faults: Vec<&'static str>,
    records: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            at: "vhost-user",
            pace: "virtual".parse().expect("a pace"),
            read_only: false,
            faults: Vec::new(),
            records: false,
        }
    }
}

/// A served m4.
struct Served {
    dir: tempfile::TempDir,
    stop: UnixStream,
    server: JoinHandle<Report>,
    complaints: Arc<Mutex<Vec<String>>>,
}

impl Served {
    fn new(options: Options) -> Served {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let address: Address =
            format!("{}:{}", options.at, dir.path().join("s").display()).parse().expect("a path");
        let listener = Listener::open(&address, None).expect("nothing is there");
        let (stop, stopped) = UnixStream::pair().expect("sockets");
        let complaints = Arc::new(Mutex::new(Vec::new()));
        let control = Control::open(&dir.path().join("c")).expect("nothing is there");
        let (told, trace) = (complaints.clone(), dir.path().join("trace"));
        let server = std::thread::spawn(move || {
            let turn = TurnSettings { trims: true, records: options.records, ..Default::default() };
            let contents = Contents::Memory(Memory::new(64 << 20));
            let mut turn = Turn::new(m4(), contents, turn);
            turn.expect_power_cuts();
            let faults = options.faults.iter().map(|text| text.parse().expect("a fault"));
            turn.inject(Faults::new(&faults.collect::<Vec<FaultSpec>>(), 1));
            let export = Export {
                name: "m4".into(),
                description: String::new(),
                bytes: DRIVE_BYTES,
                block_bytes: 512,
                read_only: options.read_only,
                trims: true,
                rotational: false,
            };
            let (pace, door) = (options.pace, Nanos::ZERO);
            let settings =
                Settings { export, pace, door, until_last_disconnect: None, every: None };
            let mut server = Server::new(turn, settings);
            server.listen(listener);
            server.stop_at(stopped.into());
            server.steer(control, 1 << 30);
            server.complain(move |line| told.lock().expect("not poisoned").push(line.into()));
            if options.records {
                server.record(Recording::create(&trace, "a test").expect("nothing is there"));
            }
            server.run(|_| {}).expect("it can be served").1
        });
        Served { dir, stop, server, complaints }
    }

    fn socket(&self) -> PathBuf {
        self.dir.path().join("s")
    }

    fn stream(&self) -> UnixStream {
        UnixStream::connect(self.socket()).expect("it listens")
    }

    /// A driver; one that left just now may still be there.
    fn driver(&self) -> Driver {
        for _ in 0..200 {
            match Driver::connect(self.stream(), u64::MAX) {
                Ok(driver) => return driver,
                Err(_) => std::thread::sleep(std::time::Duration::from_millis(10)),
            }
        }
        panic!("no driver is served: {:?}", self.complaints);
    }

    /// What it said, and its report, once it has ended.
    fn end(mut self) -> (Vec<String>, Report, tempfile::TempDir) {
        self.stop.write_all(b"x").expect("it listens");
        let report = self.server.join().expect("the server did not panic");
        let complaints = std::mem::take(&mut *self.complaints.lock().expect("not poisoned"));
        (complaints, report, self.dir)
    }
}

impl Driver {
    /// The status that a chain of descriptors is answered with, and the bytes that the device says it has written.
    fn ask(&mut self, parts: super::driver::Parts<'_>) -> io::Result<(u8, u32)> {
        let status = GuestAddress(STATUS);
        self.guest.write_obj(0xffu8, status).expect("it is memory");
        self.describe(0, parts)?;
        self.give(0)?;
        let (head, bytes) = self.take()?;
        assert_eq!(head, 0);
        Ok((self.guest.read_obj(status).expect("it is memory"), bytes))
    }

    /// A request of this kind with `data` to be read by the device.
    fn send(&mut self, kind: u32, sector: u64, data: &[u8]) -> io::Result<u8> {
        self.put_header(kind, sector)?;
        self.guest.write_slice(data, GuestAddress(BUFFER)).expect("it is memory");
        let data = (BUFFER, data.len() as u32, false);
        let status = (STATUS, 1, true);
        let all = [(DATA, 16, false), data, status];
        let some = [(DATA, 16, false), status];
        Ok(self.ask(if data.1 > 0 { &all } else { &some })?.0)
    }

    fn write(&mut self, sector: u64, data: &[u8]) -> io::Result<u8> {
        self.send(VIRTIO_BLK_T_OUT, sector, data)
    }

    /// What is read at a sector.
    fn read_back(&mut self, sector: u64, bytes: u32) -> io::Result<Vec<u8>> {
        self.put_header(VIRTIO_BLK_T_IN, sector)?;
        let (status, written) =
            self.ask(&[(DATA, 16, false), (BUFFER, bytes, true), (STATUS, 1, true)])?;
        assert_eq!((status, written), (0, bytes + 1));
        let mut data = vec![0; bytes as usize];
        self.guest.read_slice(&mut data, GuestAddress(BUFFER)).expect("it is memory");
        Ok(data)
    }
}

/// A range to be discarded or zeroed.
fn range(sector: u64, sectors: u32, flags: u32) -> Vec<u8> {
    let mut range = sector.to_le_bytes().to_vec();
    range.extend_from_slice(&sectors.to_le_bytes());
    range.extend_from_slice(&flags.to_le_bytes());
    range
}
