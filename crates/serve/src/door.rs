//! The way from a client to the drive and back, measured: sockets, wakings and the loop.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use fourcorners_drive::{Nanos, Null};
use fourcorners_linux::clock;
use fourcorners_linux::ublk::UblkDevice;

use crate::block_device::settings;
use crate::contents::{Contents, Memory};
use crate::nbd::Export;
use crate::server::{Server, Settings};
use crate::stream::Stream;
use crate::time::Pace;
use crate::turn::{Turn, TurnSettings};
#[cfg(feature = "vhost-user")]
use crate::vhost_user::driver::Driver;

/// Requests of a measurement.
const REQUESTS: usize = 2000;

const BYTES: u64 = 16 << 20;

/// How long a block device may take until it is there.
const MOST_WAIT: Duration = Duration::from_secs(5);

/// What asks, on a thread of its own: the times it took.
type Asks = Box<dyn FnOnce() -> io::Result<Vec<Nanos>> + Send>;

/// The median time of a read of 4 KiB, one at a time, from a drive that takes no time, over a unix socket on this
/// machine: what a client waits beyond the drive. A client's own library comes on top.
///
/// # Errors
/// When sockets or a thread cannot be had.
pub fn measure() -> io::Result<Nanos> {
    median(|server| {
        let (ours, theirs) = UnixStream::pair()?;
        server.adopt(Stream::Unix(ours))?;
        Ok(Box::new(|| ask(theirs)))
    })
}

/// The same of a virtual machine, whose driver is in this process. Leaving the guest and waking it come on top.
///
/// # Errors
/// When sockets, memory or a thread cannot be had.
#[cfg(feature = "vhost-user")]
pub fn measure_machine() -> io::Result<Nanos> {
    median(|server| {
        let (ours, theirs) = UnixStream::pair()?;
        server.adopt_machine(ours)?;
        Ok(Box::new(|| {
            let mut driver = Driver::connect(theirs, u64::MAX)?;
            let read = |number| driver.read(number * 8 % (BYTES / 512), 4096, clock);
            (0..REQUESTS as u64).map(read).collect()
        }))
    })
}

/// The same of a program that reads a block device of this machine past its cache. A device is there meanwhile.
///
/// # Errors
/// When the kernel has no ublk, or this is not root.
pub fn measure_block_device() -> io::Result<Nanos> {
    median(|server| {
        let device = UblkDevice::add(&settings(&export(), 1)).map_err(io::Error::other)?;
        let path = device.path();
        server.adopt_device(device).map_err(io::Error::other)?;
        // It ends when this is closed.
        let (ours, theirs) = UnixStream::pair()?;
        server.stop_at(ours.into());
        Ok(Box::new(move || {
            let times = read_directly(&path);
            drop(theirs);
            times
        }))
    })
}

fn export() -> Export {
    Export {
        name: "door".into(),
        description: String::new(),
        bytes: BYTES,
        block_bytes: 512,
        read_only: true,
        trims: false,
        rotational: false,
    }
}

/// The median of the times that somebody takes who asks a server of his.
fn median(adopt: impl FnOnce(&mut Server<Null>) -> io::Result<Asks>) -> io::Result<Nanos> {
    let settings = Settings {
        export: export(),
        pace: Pace::Dilated(1.0),
        door: Nanos::ZERO,
        until_last_disconnect: Some(Nanos::ZERO),
        every: None,
    };
    let null = Null::new(BYTES / 512, Nanos::ZERO);
    let contents = Contents::Memory(Memory::new(BYTES));
    let mut server = Server::new(Turn::new(null, contents, TurnSettings::default()), settings);
    let ask = adopt(&mut server)?;
    let client = std::thread::Builder::new().name("door".into()).spawn(ask)?;
    server.run(|_| {}).map_err(io::Error::other)?;
    let mut times = client.join().map_err(|_| io::Error::other("the client has ended"))??;
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

fn read_directly(path: &Path) -> io::Result<Vec<Nanos>> {
    let began = Instant::now();
    let file: File = loop {
        let direct = rustix::fs::OFlags::DIRECT.bits() as i32;
        match OpenOptions::new().read(true).custom_flags(direct).open(path) {
            Ok(file) => break file,
            Err(_) if began.elapsed() < MOST_WAIT => std::thread::sleep(Duration::from_millis(1)),
            Err(error) => return Err(error),
        }
    };
    let mut room = vec![0; 2 * 4096];
    let start = room.as_ptr().align_offset(4096);
    let mut times = Vec::with_capacity(REQUESTS);
    for number in 0..REQUESTS as u64 {
        let began = clock();
        rustix::io::pread(&file, &mut room[start..start + 4096], number * 4096 % BYTES)?;
        times.push(clock().since(began));
    }
    Ok(times)
}

fn ask(mut stream: UnixStream) -> io::Result<Vec<Nanos>> {
    let mut greeting = [0; 18];
    stream.read_exact(&mut greeting)?;
    // Fixed newstyle without zeros; EXPORT_NAME of the default export.
    let mut hello = 3u32.to_be_bytes().to_vec();
    hello.extend_from_slice(b"IHAVEOPT\0\0\0\x01\0\0\0\0");
    stream.write_all(&hello)?;
    stream.read_exact(&mut [0; 10])?;
    let mut times = Vec::with_capacity(REQUESTS);
    let mut reply = vec![0; 16 + 4096];
    for number in 0..REQUESTS as u64 {
        let mut request = 0x2560_9513u32.to_be_bytes().to_vec();
        request.extend_from_slice(&[0; 4]);
        request.extend_from_slice(&number.to_be_bytes());
        request.extend_from_slice(&(number % (BYTES / 4096) * 4096).to_be_bytes());
        request.extend_from_slice(&4096u32.to_be_bytes());
        let began = clock();
        stream.write_all(&request)?;
        stream.read_exact(&mut reply)?;
        times.push(clock().since(began));
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_door_takes_some_time_and_not_a_second() {
        let door = measure().expect("it can be measured");
        assert!(door > Nanos(1000) && door < Nanos::from_secs(1), "{door}");
    }

    #[cfg(feature = "vhost-user")]
    #[test]
    fn so_does_that_of_a_virtual_machine() {
        let door = measure_machine().expect("it can be measured");
        assert!(door > Nanos(1000) && door < Nanos::from_secs(1), "{door}");
        println!("{door} against {}", measure().expect("it can be measured"));
    }
}
