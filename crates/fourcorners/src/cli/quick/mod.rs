//! `fourcorners quick`: a drive in a minute, as a card to paste.

pub(super) mod args;
mod card;
mod full_review;
mod watch;

use std::io::{Write, stdout};
use std::path::Path;

use fourcorners_lab::campaign::{Campaign, CampaignError, Settings};
use fourcorners_lab::device_under_test::DeviceUnderTest;
use fourcorners_lab::review::{Method, Phase, QUICK_SPAN_BYTES};
use fourcorners_machine::save::write_atomically;
use fourcorners_record::{Document, Ended, to_json};

use super::interrupt::Interrupt;
use super::keeper::{self, Keeper};
use super::outcome::{End, Failure};
use super::print;
use super::progress::Progress;
use super::replaced::{Inputs, Kind};
use super::sink::TerminalSink;
use super::targets::{self, QuickTarget};
use super::terminal::say;
pub(crate) use args::QuickArgs;
use card::Card;
use full_review::FullReview;
use watch::ScratchSink;

pub(super) fn run(args: &QuickArgs) -> Result<End, Failure> {
    let target = targets::plan_quick(args, QUICK_SPAN_BYTES).map_err(Failure::Usage)?;
    check_output(args, &target.device).map_err(Failure::Usage)?;
    let QuickTarget { device, reads_only, scratch } = target;
    let more = full_review::of(&device, &args.target, &args.on, scratch.is_some());
    let settings = Settings { seed: args.seed, reads_only, ..Settings::default() };
    let methods = vec![Method::Quick.into()];
    let targets = vec![device];
    let author = args.author.clone();
    let campaign = Campaign { methods, targets, settings, repeat: 1, author };
    let keeper = Keeper::open(&args.keep).map_err(Failure::Usage)?;
    // From here on an interrupt is ours, so that no scratch file stays.
    let interrupt = Interrupt::listen()?;
    say(&statement(&campaign, scratch.as_deref())?);
    let inner = TerminalSink { progress: Progress::new(interrupt, false), keeper: &keeper };
    let sink = ScratchSink::new(inner, scratch);
    let outcome = campaign.carry_out(None, None, &sink);
    // What a campaign made that came to nothing it has removed itself.
    let outcome = outcome.map_err(failure)?;
    if let Some((path, error)) = sink.finish() {
        let path = path.display();
        say(&format!("fourcorners: {path} could not be removed ({error}): remove it"));
    }
    tell(args, &outcome.document, more.as_ref())?;
    Ok(if outcome.whole { End::Done } else { End::Incomplete })
}

/// Everything that can go wrong here was typed wrong.
fn failure(error: CampaignError) -> Failure {
    Failure::Usage(error.to_string())
}

/// Refuses a record that would be written over what is measured, or what is no record.
fn check_output(args: &QuickArgs, device: &DeviceUnderTest) -> Result<(), String> {
    let Some(output) = &args.output else { return Ok(()) };
    let place = device.place();
    let profile = Path::new(&args.target);
    let read = place.as_deref().into_iter().chain(profile.is_file().then_some(profile));
    let database = keeper::path(args.keep.db.as_ref()).filter(|_| !args.keep.no_db);
    let inputs = Inputs::of(read).and_database(database.as_deref());
    inputs.may_write(output, Kind::Json, args.overwrite)
}

/// What will be done, before anything is written.
fn statement(campaign: &Campaign, scratch: Option<&Path>) -> Result<String, Failure> {
    let sessions = campaign.sessions().map_err(failure)?;
    let phases = || sessions.iter().flat_map(|session| &session.plans).flat_map(|(_, plan)| plan);
    let Some(session) = sessions.first() else { return Ok(String::new()) };
    let name = session.target.name();
    let (mut seconds, mut writing, mut span) = (0.0, 0.0, 0);
    for phase in phases() {
        let Some(job) = phase.job() else { continue };
        let takes = match (phase, session.target.is_real()) {
            // Of a real drive it has a time limit, which only a slow one needs.
            (Phase::Prepare { .. }, true) => job.until.seconds().unwrap_or(0) as f64,
            _ => phase.estimated_seconds(),
        };
        seconds += takes;
        if job.read_percent < 100 {
            writing += takes * f64::from(100 - job.read_percent) / 100.0;
        }
        span = span.max(job.span_start_bytes + job.span_bytes);
    }
    let size = fourcorners_words::size(span);
    let clock = if session.target.is_real() { "" } else { " on its own clock" };
    let what = match (scratch, writing > 0.0) {
        (Some(path), _) => {
            let path = path.display();
            format!("{path}, a scratch file of {size}, is written and measured, and removed")
        }
        (None, true) => format!("the first {size} of {name} are written and measured"),
        (None, false) if session.target.is_read_only() => {
            format!("the first {size} of {name} are read, and nothing is written: it is read-only")
        }
        (None, false) => format!(
            "the first {size} of {name} are read, and nothing is written; --destroy {name} measures \
             writes, too, and ALL ITS DATA IS LOST"
        ),
    };
    let writes = match writing > 0.0 {
        true => format!(", {writing:.0} s of it writes"),
        false => String::new(),
    };
    Ok(format!("{what}; about {seconds:.0} s{clock}{writes}"))
}

/// Prints the card, and writes the record where that is asked for.
fn tell(args: &QuickArgs, document: &Document, more: Option<&FullReview>) -> Result<(), Failure> {
    let Some(record) = document.records.first() else {
        say("fourcorners: stopped; nothing was measured");
        return Ok(());
    };
    match &record.ended {
        Ended::Complete => {}
        Ended::Interrupted => say("fourcorners: stopped; the card has what was measured before"),
        Ended::Failed(why) => say(&format!("fourcorners: {}: {why}", record.target.name)),
    }
    if let Some(output) = &args.output {
        write_atomically(output, to_json(document).as_bytes())
            .map_err(|error| anyhow::anyhow!("cannot write {}: {error}", output.display()))?;
    }
    let card = Card::of(record, more);
    let text = match (args.json, args.markdown) {
        (true, _) => card.json(),
        (false, true) => card.markdown(),
        (false, false) => card.plain(),
    };
    print::done(writeln!(stdout().lock(), "{}", text.trim_end()))?;
    Ok(())
}
