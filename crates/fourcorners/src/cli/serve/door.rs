//! What clients come through to a served drive, and how long the way is.

use fourcorners_drive::{Io, Lba, Nanos, Op, Tag, Target};
use fourcorners_linux::ublk::UblkDevice;
use fourcorners_serve::nbd::Export;
use fourcorners_serve::{Address, At, Listener, Pace, Server, Tls, block_device, door};

use super::ServeArgs;
use crate::cli::outcome::Failure;
use crate::cli::terminal::say;

/// A drive whose answers cannot be had as early as it has them is asked for this much at a time to tell so.
const PROBE_BYTES: u64 = 4096;

/// How early answers are, as it is typed.
#[derive(Clone, Copy, Debug)]
pub(super) enum DoorArg {
    Auto,
    Fixed(Nanos),
}

pub(super) fn door_of(text: &str) -> Result<DoorArg, String> {
    if text == "auto" {
        return Ok(DoorArg::Auto);
    }
    let micros = text.parse::<f64>().ok().filter(|us| (0.0..=100_000.0).contains(us));
    micros
        .map(|us| DoorArg::Fixed(Nanos::from_micros(us)))
        .ok_or_else(|| "give auto or microseconds from 0 to 100000".into())
}

/// What clients come through.
pub(super) enum Door {
    Listener(Listener),
    Device(Box<UblkDevice>),
}

impl Door {
    /// Opens it, with what was asked of it.
    pub(super) fn open(args: &ServeArgs, export: &Export, depth: u32) -> Result<Door, Failure> {
        match &args.at {
            At::Socket(address) => {
                let tls = args.tls.as_deref().map(Tls::open).transpose();
                let tls = tls.map_err(|error| Failure::Usage(error.to_string()))?;
                let listener = Listener::open(address, tls);
                Ok(Door::Listener(listener.map_err(|error| Failure::Usage(error.to_string()))?))
            }
            At::BlockDevice => {
                let why = match (&args.tls, args.until_last_disconnect) {
                    (Some(_), _) => {
                        "--tls: a block device of this machine sends nothing that could be encrypted"
                    }
                    (_, Some(_)) => {
                        "--until-last-disconnect: the kernel stays connected to its block device; Ctrl-C or SIGTERM ends serve"
                    }
                    _ => {
                        let device = block_device(export, depth);
                        let refused = |error| Failure::Usage(format!("--at ublk: {error}"));
                        return Ok(Door::Device(Box::new(device.map_err(refused)?)));
                    }
                };
                Err(Failure::Usage(format!("--at ublk with {why}: leave it out")))
            }
        }
    }

    /// Where clients find it.
    pub(super) fn name(&self) -> String {
        match self {
            Door::Listener(listener) => listener.uri(),
            Door::Device(device) => device.path().display().to_string(),
        }
    }

    /// Gives it to the server.
    pub(super) fn serve<T: Target>(self, server: &mut Server<T>) -> Result<(), Failure> {
        match self {
            Door::Listener(listener) => {
                server.listen(listener);
                Ok(())
            }
            Door::Device(device) => server
                .adopt_device(*device)
                .map_err(|error| Failure::Usage(format!("--at ublk: {error}"))),
        }
    }
}

/// How long the way to a client is that answers are early for.
pub(super) fn way(args: &ServeArgs) -> Result<Nanos, Failure> {
    let remote = matches!(args.at, At::Socket(Address::Tcp(_)));
    let by_itself = if remote { DoorArg::Fixed(Nanos::ZERO) } else { DoorArg::Auto };
    match (args.pace(), args.door.unwrap_or(by_itself)) {
        (Pace::Virtual { .. }, _) => Ok(Nanos::ZERO),
        (_, DoorArg::Fixed(door)) => Ok(door),
        #[cfg(feature = "vhost-user")]
        (_, DoorArg::Auto) if matches!(args.at, At::Socket(Address::VhostUser(_))) => {
            Ok(door::measure_machine()?)
        }
        (_, DoorArg::Auto) if args.at == At::BlockDevice => Ok(door::measure_block_device()?),
        (_, DoorArg::Auto) => Ok(door::measure()?),
    }
}

/// Says which of the drive's shortest times are shorter than the way to a client.
pub(super) fn warn_of_the_floor<T: Target>(mut probe: T, factor: f64, door: Nanos) {
    let mut one = |op, number: u64| {
        let began = probe.now();
        let (lba, sectors) = (Lba(number * PROBE_BYTES / 512), (PROBE_BYTES / 512) as u32);
        probe.submit(Tag(0), Io { op, lba, sectors, ..Io::FLUSH });
        probe.reap(Nanos::MAX).ok().flatten().map(|done| done.at.since(began))
    };
    let mut median = |op| {
        let mut times: Vec<Nanos> = (0..201).filter_map(|number| one(op, number * 97)).collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied()
    };
    // Written first, for a drive may know what never was.
    for (name, op) in [("write", Op::Write), ("read", Op::Read)] {
        if let Some(time) = median(op)
            && (time.0 as f64) * factor < door.0 as f64
        {
            let enough = (door.0 as f64 / time.0 as f64).ceil();
            say(&format!(
                "fourcorners: a {name} of 4 KiB takes this drive {:.1} us, less than the way to a client and back \
                 ({:.1} us): clients will see such times only from --time x{enough} on",
                time.as_micros(),
                door.as_micros(),
            ));
        }
    }
}
