//! A real drive behind the door: its I/Os go through to it, and what is done to it can be recorded.

use fourcorners_drive::Target;
use fourcorners_lab::device_under_test::DeviceUnderTest;
use fourcorners_lab::drive::Drive;
use fourcorners_linux::guard::{self, Permission, RealTarget};
use fourcorners_linux::{Setup, Uring};
use fourcorners_serve::{REAL_IO_BYTES, Report, Turn, TurnSettings};

use super::{ServeArgs, Served, serve, settings};
use crate::cli::outcome::{End, Failure};
use crate::cli::served::ServedAs;

/// I/Os that a real drive has in flight at most; the rest wait here. Each has memory for the longest.
const DEPTH: u32 = 128;

/// Serves it until the end. How it ended, and the report of all.
pub(super) fn served(args: &ServeArgs, target: RealTarget) -> Result<(End, Report), Failure> {
    let name = target.path.display().to_string();
    if let Some(option) = of_models(args) {
        return Err(Failure::Usage(format!(
            "{option} is for virtual drives, and {name} is a real one: leave it out"
        )));
    }
    let about = ServedAs {
        title: target.model.clone().unwrap_or_else(|| name.clone()),
        name: name.clone(),
        hash: None,
        rotational: target.rotational == Some(true),
    };
    let device = if args.read_only {
        DeviceUnderTest::ToRead(Box::new(target))
    } else {
        let permission = Permission { destroy: args.destroy.clone(), force: args.force.clone() };
        guard::may_write(&target, &permission).map_err(|refusal| {
            Failure::Usage(format!("{refusal} (or --read-only: clients read it and write nothing)"))
        })?;
        DeviceUnderTest::Real(Box::new(target), permission)
    };
    let setup = Setup { queue_depth: DEPTH, max_block_bytes: REAL_IO_BYTES };
    let ready = device.open_for(setup).map_err(|error| Failure::Usage(error.to_string()))?;
    let Drive::Real(drive) = ready.drive else {
        return Err(Failure::Usage(format!("{name} is no drive any more: look at what is there")));
    };
    let turn = TurnSettings { trims: drive.takes_trim() && !args.read_only, ..settings(args) };
    let drive = Served {
        geometry: drive.geometry(),
        trims: turn.trims,
        readiness: Some(drive.readiness()?),
        turn: Box::new(move |_| Ok(Turn::of_real(*drive, turn))),
        probe: None,
        counters: Box::new(|_: &Uring| None),
        expect_power_cuts: None,
        steer: None,
    };
    serve(args, &about, drive)
}

/// The first option given that only a model can do something with.
fn of_models(args: &ServeArgs) -> Option<&'static str> {
    let given = [
        (args.contents.is_some(), "--contents"),
        (args.state.is_some(), "--state"),
        (args.time.is_some(), "--time"),
        (args.door.is_some(), "--door"),
        (!args.fault.is_empty(), "--fault"),
        (args.seed.is_some(), "--seed"),
        (args.control.is_some(), "--control"),
        (args.ignore_flushes, "--ignore-flushes"),
        (!args.set.is_empty(), "--set"),
    ];
    given.into_iter().find_map(|(given, option)| given.then_some(option))
}
