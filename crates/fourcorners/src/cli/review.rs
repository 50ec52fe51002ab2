//! `fourcorners review`: everything is checked, then measured, then written.

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::anyhow;
use fourcorners_lab::campaign::{
    BeginError, Campaign, CampaignError, ChosenMethod, ResultsFolder, ResumeFolder, Settings,
};
use fourcorners_lab::device_under_test::DeviceUnderTest;
use fourcorners_lab::review::{MOST_SPARE_PERCENT, Method, Phase, Protocol};
use fourcorners_linux::device::EraseWith;
use fourcorners_record::{ClockName, Document, Ended};
use fourcorners_results::store::kept_beside;

pub(super) mod args;

use self::args::{ProgressAs, PurgeHow, ReviewArgs};
use super::among;
use super::continued;
use super::dry_run::{self, duration};
use super::interrupt::Interrupt;
use super::keeper::{self, Keeper};
use super::out;
use super::outcome::{End, Failure};
use super::print;
use super::progress::Progress;
use super::replaced::{Inputs, Kind};
use super::sink::TerminalSink;
use super::targets;
use super::terminal::say;
use super::told::Audience;
#[cfg(not(feature = "web"))]
use super::web::ReviewMetrics;
#[cfg(feature = "web")]
use crate::web::ReviewMetrics;

/// Most times a review is repeated.
const MOST_REPEATS: u32 = 1000;

pub(super) fn run(args: ReviewArgs) -> Result<End, Failure> {
    let campaign = check(&args).map_err(Failure::Usage)?;
    let sessions = campaign.sessions().map_err(failure)?;
    let without_effect = spare_without_effect(&campaign).map_err(failure)?;
    if args.dry_run {
        args.keep.say_note();
        without_effect.iter().for_each(|note| say(note));
        let occupied = may_begin(&args).err();
        let refusals =
            targets::write_refusals(&campaign.targets, &args.on).into_iter().chain(occupied);
        let once = Campaign { repeat: 1, ..campaign }.sessions().map_err(failure)?;
        dry_run::print(&once, args.repeat, args.json)?;
        for refusal in refusals {
            say(&format!("fourcorners: without --dry-run this is refused: {refusal}"));
        }
        return Ok(End::Done);
    }
    // Before anything is created: what cannot go on is refused.
    let resumed = args.resume.as_ref().map(|folder| ResumeFolder::open(folder, &sessions));
    let resumed = resumed.transpose().map_err(|error| Failure::Usage(error.to_string()))?;
    may_begin(&args).map_err(Failure::Usage)?;
    keep_results(&args, &campaign.targets).map_err(Failure::Usage)?;
    if let Some(folder) = args.resume.as_ref().or(args.output.as_ref()) {
        let kinds = [Kind::Json, Kind::Page];
        Inputs::of([])
            .may_write_into(folder, out::FILES.into_iter().zip(kinds), args.overwrite)
            .map_err(Failure::Usage)?;
    }
    // The reader's own may be missing.
    let references = among::references(args.references, args.keep.db.as_ref())?;
    // From here on an interrupt is ours, so that nothing is left half made.
    let interrupt = Interrupt::listen()?;
    let metrics = args.metrics.map(ReviewMetrics::open).transpose();
    let metrics = metrics.map_err(|error| Failure::Usage(error.to_string()))?;
    let results = out::open(&args, &campaign.targets).map_err(Failure::Usage)?;
    let keeper = Keeper::open(&args.keep).map_err(|why| {
        results.iter().for_each(ResultsFolder::undo);
        Failure::Usage(why)
    })?;
    if !args.quiet {
        without_effect.iter().for_each(|note| say(note));
    }
    let began = Instant::now();
    let reviews = campaign.reviews();
    if let Some(metrics) = &metrics {
        say(&format!("metrics: http://{}/metrics", metrics.address()));
    }
    let stderr = args.progress == ProgressAs::Json;
    let progress = Progress::new(interrupt, args.quiet || stderr);
    let progress = progress.telling(Audience { stderr, metrics: metrics.map(Arc::new) });
    let sink = TerminalSink { progress, keeper: &keeper };
    let is_resumed = resumed.is_some();
    let outcome = campaign.carry_out(resumed, results.as_ref(), &sink);
    let outcome = outcome.map_err(|error| match (error, &results) {
        // What the system says names no place.
        (CampaignError::ResumeFolder(BeginError::Folder(error)), Some(results))
            if error.raw_os_error().is_some() =>
        {
            let place = results.path().display();
            Failure::Failed(anyhow!("cannot write into {place}: {error}"))
        }
        (error, _) => failure(error),
    })?;
    let measured_now = is_resumed.then(|| sink.progress.measured_s());
    drop(sink);
    let document = outcome.document;
    let saved =
        outcome.saved.and_then(|()| out::save_page(results.as_ref(), &document, &references));
    let page = results.as_ref().map(out::page).filter(|_| saved.is_ok());
    if !args.quiet || args.json {
        print(&args, &document, page.as_deref())?;
    }
    account(&document, reviews);
    if !args.quiet {
        let measured_s = measured_now.unwrap_or_else(|| measured_s(&document));
        let took = began.elapsed().as_secs_f64();
        let on = clock_words(document.records.iter().map(|record| record.clock));
        let measured = duration(measured_s);
        say(&format!("{measured} of measurements{on}, and what prepared them, took {took:.1} s"));
    }
    if let (Some(results), false) = (&results, outcome.whole) {
        say(&continued::command(results.path(), &["--output", "--out", "-o"]));
    }
    saved?;
    Ok(if outcome.whole { End::Done } else { End::Incomplete })
}

/// What is to be said of spare area that was asked for and lies beyond all that is touched anyway; `None` if there is some
/// that is not touched for it. A quick review, above all, stays in the first few GB.
fn spare_without_effect(campaign: &Campaign) -> Result<Option<String>, CampaignError> {
    let spare_percent = campaign.settings.spare_percent;
    if spare_percent == 0.0 {
        return Ok(None);
    }
    let planned = |spare_percent| -> Result<Vec<Vec<Phase>>, CampaignError> {
        let settings = Settings { spare_percent, ..campaign.settings };
        let once = Campaign { settings, repeat: 1, ..campaign.clone() }.sessions()?;
        Ok(once.into_iter().flat_map(|session| session.plans).map(|(_, plan)| plan).collect())
    };
    let [with, without] = [planned(spare_percent)?, planned(0.0)?];
    let quick = if campaign.settings.quick { "a quick review" } else { "what is measured" };
    Ok((with == without).then(|| {
        format!(
            "fourcorners: --spare {spare_percent} changes nothing: {quick} does not reach that far"
        )
    }))
}

/// All but the file system of the results is a matter of what was typed.
fn failure(error: CampaignError) -> Failure {
    match error {
        CampaignError::ResumeFolder(BeginError::Folder(error)) => error.into(),
        error => Failure::Usage(error.to_string()),
    }
}

/// Refuses a folder in which another review is, or was ended before it was whole.
fn may_begin(args: &ReviewArgs) -> Result<(), String> {
    let folder = args.output.as_ref().filter(|_| args.resume.is_none());
    let may = folder.map_or(Ok(()), |folder| ResumeFolder::may_begin(folder, args.overwrite));
    may.map_err(|error| error.to_string())
}

/// Refuses targets that are what this review writes its results to, or reads.
fn keep_results(args: &ReviewArgs, targets: &[DeviceUnderTest]) -> Result<(), String> {
    let place = |path: PathBuf| path.canonicalize().unwrap_or(path);
    let out = args.resume.as_ref().or(args.output.as_ref()).map(|folder| place(folder.clone()));
    let database = (!args.keep.no_db).then(|| keeper::path(args.keep.db.as_ref())).flatten();
    let beside = |path: PathBuf| kept_beside(&path).into_iter().chain([path]);
    let results = out.iter().flat_map(|out| out::FILES.map(|name| out.join(name)));
    let database = database.into_iter().flat_map(|path| beside(place(path)));
    let read = args.state.iter().cloned().chain(args.methods.iter().map(PathBuf::from)).map(place);
    let kept: Vec<PathBuf> = results.chain(database).chain(read).collect();
    for target in targets {
        let Some(path) = target.place() else { continue };
        let resumed = out.as_ref().is_some_and(|out| ResumeFolder::holds(out, &path));
        if resumed || kept.contains(&path) {
            return Err(format!(
                "{} is what this review reads, or writes its results to: name another target, or \
                 another --output or --db",
                target.name()
            ));
        }
    }
    Ok(())
}

/// Checks what was typed, and finds the targets; nothing was written yet.
fn check(args: &ReviewArgs) -> Result<Campaign, String> {
    let ours = |methods: Vec<Method>| methods.into_iter().map(ChosenMethod::from).collect();
    let methods = match (&args.methods[..], args.quick) {
        ([], false) => ours(Method::default_set()),
        ([], true) => ours(Method::QUICK.to_vec()),
        (names, _) => ChosenMethod::named(names).map_err(|error| error.to_string())?,
    };
    if let Some(ios) = args.ios.filter(|_| !methods.iter().any(replays_traces)) {
        let ios = if ios == u64::MAX { "all".into() } else { ios.to_string() };
        return Err(format!(
            "--ios {ios} is for storage-bench, which is not asked for: leave it out, or add storage-bench to --methods"
        ));
    }
    let (spare_percent, seed, repeat) = (args.spare, args.seed, args.repeat);
    if !(0.0..=MOST_SPARE_PERCENT).contains(&spare_percent) {
        return Err(format!(
            "--spare {spare_percent}: give a percentage from 0 to {MOST_SPARE_PERCENT}"
        ));
    }
    if !(1..=MOST_REPEATS).contains(&repeat) {
        return Err(format!("--repeat {repeat}: give a number from 1 to {MOST_REPEATS}"));
    }
    if seed.checked_add(u64::from(repeat - 1)).is_none() {
        return Err(format!(
            "--seed {seed} --repeat {repeat}: there is no seed beyond {}; choose a smaller one",
            u64::MAX
        ));
    }
    let targets = targets::plan(args)?;
    let erase = match args.purge {
        PurgeHow::Discard => None,
        PurgeHow::NvmeFormat => Some(EraseWith::NvmeFormat),
        PurgeHow::AtaSecureErase => Some(EraseWith::AtaSecureErase),
    };
    let settings = Settings {
        quick: args.quick,
        spare_percent,
        seed,
        most_ios: args.ios,
        erase,
        reads_only: false,
    };
    let author = args.author.clone();
    Ok(Campaign { methods, targets, settings, repeat, author })
}

/// Whether a method may replay traces: storage-bench does, and the test of a published figure may.
fn replays_traces(method: &ChosenMethod) -> bool {
    matches!(
        method,
        ChosenMethod::Figure(_) | ChosenMethod::Protocol(Protocol::Method(Method::StorageBench))
    )
}

/// Prints the figures. A reader that closed the pipe has seen enough.
fn print(args: &ReviewArgs, document: &Document, page: Option<&Path>) -> anyhow::Result<()> {
    let text = print::text_of(document, args.json, args.pasted.form());
    let mut stdout = stdout().lock();
    let mut printed = writeln!(stdout, "{text}");
    match page.map(|page| format!("page: {}", page.display())) {
        Some(_) if args.quiet => {}
        Some(line) if args.json => say(&line),
        Some(line) => printed = printed.and_then(|()| writeln!(stdout, "{line}")),
        None => {}
    }
    print::done(printed)
}

/// Says what is missing.
fn account(document: &Document, reviews: usize) {
    for record in &document.records {
        let why = match &record.ended {
            Ended::Complete => continue,
            Ended::Interrupted => "stopped",
            Ended::Failed(why) => why,
        };
        let name = &record.target.name;
        let kept = match record.figure_count() {
            0 => "no figure was measured before".to_string(),
            1 => "the figure measured before is kept".into(),
            count => format!("the {count} figures measured before are kept"),
        };
        say(&format!("fourcorners: {name}: {why}; {kept}"));
    }
    let missing = reviews - document.records.len();
    if missing > 0 {
        say(&format!("fourcorners: stopped; {}", missing_words(missing, reviews)));
    }
}

/// How many results are missing; each is of one method on one drive.
fn missing_words(missing: usize, all: usize) -> String {
    match missing {
        1 => format!("1 of {all} results is missing: that method was not started"),
        _ => format!("{missing} of {all} results are missing: those methods were not started"),
    }
}

/// How long all figures took to measure, on the drives' clocks.
fn measured_s(document: &Document) -> f64 {
    let figures = document.records.iter().flat_map(|record| record.figures.values());
    let replays = document.records.iter().flat_map(|record| record.replays.values());
    let replayed = replays.flat_map(|replay| replay.figures.values());
    // Nothing adds up to -0.
    0.0 + figures.map(|figure| figure.duration_s).sum::<f64>()
        + replayed.map(|figure| figure.elapsed_s).sum::<f64>()
}

/// On which clock that was, where it is not the reader's.
fn clock_words(clocks: impl Iterator<Item = ClockName>) -> &'static str {
    let (mut wall, mut model) = (false, false);
    for clock in clocks {
        match clock {
            ClockName::Wall => wall = true,
            ClockName::Virtual => model = true,
        }
    }
    match (wall, model) {
        (_, false) => "",
        (false, true) => " in virtual time",
        (true, true) => " on the drives' clocks",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_started_are_methods_and_no_reviews() {
        let one = "1 of 15 results is missing: that method was not started";
        let several = "14 of 15 results are missing: those methods were not started";
        assert_eq!([missing_words(1, 15), missing_words(14, 15)], [one, several]);
    }

    #[test]
    fn only_what_is_all_of_models_is_called_virtual_time() {
        use ClockName::{Virtual, Wall};
        let words = |clocks: &[ClockName]| clock_words(clocks.iter().copied());
        assert_eq!([words(&[Wall]), words(&[Virtual, Virtual])], ["", " in virtual time"]);
        assert_eq!(words(&[Virtual, Wall]), " on the drives' clocks");
    }
}
