//! What a full review of the same target would add, from its plan.

use std::path::Path;

use fourcorners_lab::campaign::{Campaign, Session, Settings};
use fourcorners_lab::device_under_test::DeviceUnderTest;
use fourcorners_lab::review::{ASSUMED_BYTES_PER_SECOND, Method, Past};

use fourcorners_words::shell_word;

use super::super::args::TargetArgs;
use super::super::dry_run::{duration, gigabytes};

/// What is proposed to be reviewed in a directory.
const FILE_GB: u64 = 8;

/// What it adds, and what to type.
pub(super) struct FullReview {
    /// A sentence with its cost, without its end.
    pub(super) sentence: String,
    pub(super) command: String,
}

/// The one of this target; `None` where no plan of one can be made.
pub(super) fn of(
    device: &DeviceUnderTest,
    typed: &str,
    on: &TargetArgs,
    in_directory: bool,
) -> Option<FullReview> {
    let file = in_directory.then(|| Path::new(typed).join("test.img"));
    let new = file.clone().map(|file| DeviceUnderTest::New(file, FILE_GB * 1_000_000_000));
    let device = new.as_ref().unwrap_or(device);
    let (seconds, bytes) = cost(device, &Method::default_set(), false)?;
    let (quick_seconds, _) = cost(device, &Method::QUICK, true)?;
    let command = match (device, &file) {
        (_, Some(file)) => format!("fourcorners review {} --size {FILE_GB}G", file.display()),
        (
            DeviceUnderTest::Virtual(_) | DeviceUnderTest::Array(_) | DeviceUnderTest::Used(..),
            _,
        ) => {
            let options = on.set.iter().map(|set| ("--set", set));
            let options = options.chain(on.host.iter().map(|host| ("--host", host)));
            let options = options.map(|(option, value)| format!(" {option} {}", shell_word(value)));
            format!("fourcorners review {typed}{}", options.collect::<String>())
        }
        (DeviceUnderTest::New(_, bytes), _) => format!("fourcorners review {typed} --size {bytes}"),
        (DeviceUnderTest::Real(..) | DeviceUnderTest::ToRead(_), _) => {
            format!("fourcorners review {typed} --destroy {typed}")
        }
    };
    let clock = if device.is_real() { "" } else { " on its own clock" };
    let rate = ASSUMED_BYTES_PER_SECOND / 1e6;
    let sentence = format!(
        "A full review adds the used state, consistency second by second, every queue depth, TRIM, how full is \
         too full, FUA and parallel writers, recorded work, and verdicts with their controls: at {rate:.0} MB/s about \
         {}{clock}, and {} written (with --quick four corners in {})",
        duration(seconds),
        gigabytes(bytes),
        duration(quick_seconds),
    );
    Some(FullReview { sentence, command })
}

/// Seconds and bytes written.
fn cost(device: &DeviceUnderTest, methods: &[Method], quick: bool) -> Option<(f64, u64)> {
    let methods = methods.iter().map(|&method| method.into()).collect();
    let settings = Settings { quick, ..Settings::default() };
    let targets = vec![device.clone()];
    let campaign = Campaign { methods, targets, settings, repeat: 1, author: None };
    let sessions = campaign.sessions().ok()?;
    let foreseen = |session: &Session| -> Vec<(f64, u64)> {
        let mut past = Past::default();
        let phases = session.plans.iter().flat_map(|(_, plan)| past.foresee(plan));
        phases.map(|phase| (phase.estimated_seconds(), phase.estimated_writes().bytes)).collect()
    };
    let phases: Vec<(f64, u64)> = sessions.iter().flat_map(foreseen).collect();
    let seconds = phases.iter().map(|(seconds, _)| seconds).sum();
    Some((seconds, phases.iter().map(|(_, bytes)| bytes).sum()))
}
