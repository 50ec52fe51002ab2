//! What a full review of the same target would add, from its plan.

use fourcorners_lab::campaign::{Campaign, Settings};
use fourcorners_lab::device_under_test::DeviceUnderTest;
use fourcorners_lab::review::{ASSUMED_BYTES_PER_SECOND, Method, Phase};

use super::super::dry_run::{duration, gigabytes};

/// A sentence with its cost and what to type; `None` where no plan of one can be made.
pub(super) fn words(device: &DeviceUnderTest, typed: &str, in_directory: bool) -> Option<String> {
    let (seconds, bytes) = cost(device, &Method::default_set(), false)?;
    let (quick_seconds, _) = cost(device, &Method::QUICK, true)?;
    let command = match (device, in_directory) {
        (_, true) => {
            let file = std::path::Path::new(typed).join("test.img");
            format!("fourcorners review {} --size 8G", file.display())
        }
        (
            DeviceUnderTest::Virtual(_) | DeviceUnderTest::Array(_) | DeviceUnderTest::Used(..),
            _,
        ) => {
            format!("fourcorners review {typed}")
        }
        (DeviceUnderTest::New(_, bytes), _) => format!("fourcorners review {typed} --size {bytes}"),
        (DeviceUnderTest::Real(..) | DeviceUnderTest::ToRead(_), _) => {
            format!("fourcorners review {typed} --destroy {typed}")
        }
    };
    let clock = if device.is_real() { "" } else { " on its own clock" };
    let rate = ASSUMED_BYTES_PER_SECOND / 1e6;
    Some(format!(
        "A full review adds the used state, consistency second by second, every queue depth, TRIM, how full is \
         too full, FUA\nand parallel writers, recorded work, and verdicts with their controls: about {}{clock} and {} \
         written at {rate:.0} MB/s\n(with --quick four corners in {}): {command}",
        duration(seconds),
        gigabytes(bytes),
        duration(quick_seconds),
    ))
}

/// Seconds and bytes written.
fn cost(device: &DeviceUnderTest, methods: &[Method], quick: bool) -> Option<(f64, u64)> {
    let methods = methods.iter().map(|&method| method.into()).collect();
    let settings = Settings { quick, ..Settings::default() };
    let targets = vec![device.clone()];
    let campaign = Campaign { methods, targets, settings, repeat: 1, author: None };
    let sessions = campaign.sessions().ok()?;
    let phases: Vec<&Phase> = sessions
        .iter()
        .flat_map(|session| session.plans.iter().flat_map(|(_, plan)| plan))
        .collect();
    let seconds = phases.iter().map(|phase| phase.estimated_seconds()).sum();
    Some((seconds, phases.iter().map(|phase| phase.estimated_writes().bytes).sum()))
}
