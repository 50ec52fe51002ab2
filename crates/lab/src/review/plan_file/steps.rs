//! The phases of a plan file.

use fourcorners_record::{Data, Pattern};
use fourcorners_words::nearest;

use super::area::Area;
use super::job::{Defaults, Jobs, Limit, Much, NO_LIMIT, Seconds, Variant};
use crate::review::{Phase, Scope};
use crate::strict_toml::{LineError, Section};

/// How long a torture is, unless it says: 20 minutes, or its span once.
const TORTURE_SECONDS: u64 = 20 * 60;
/// Most places of a pass, rounds of rounds, and figures of a plan.
const MOST_POINTS: u64 = 10_000;
const POINTS: u64 = 200;
const MOST_ROUNDS: u64 = 1000;
pub(super) const MOST_FIGURES: usize = 2000;
/// Longest name of a figure.
const MOST_NAME: usize = 100;

/// A phase as it was written.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Step {
    pub(super) line: usize,
    /// Whether `--quick` carries it out.
    quick: bool,
    action: Action,
}

#[derive(Clone, PartialEq, Debug)]
enum Action {
    Purge,
    Prepare { state: String, jobs: Jobs },
    Measure(Tests),
    Pass { tests: Tests, points: u64 },
    BesideTrim { tests: Tests, trim: Area },
    Rounds { most: usize, tracked: String, tests: Vec<Tests> },
    Trim(Area),
    ProbeTrim(Area),
    Idle(Seconds),
}

/// Jobs that are measured, each under a name.
#[derive(Clone, PartialEq, Debug)]
struct Tests {
    jobs: Jobs,
    named: Vec<(String, Variant)>,
}

const ACTIONS: [&str; 11] = [
    "purge",
    "fill",
    "torture",
    "prepare",
    "measure",
    "pass",
    "measure-beside-trim",
    "rounds",
    "trim",
    "probe-trim",
    "idle",
];

impl Step {
    /// A section `[[phase]]`.
    pub(super) fn read(mut section: Section<'_>) -> Result<Step, LineError> {
        let line = section.line;
        let what = section.needed("do", "measure")?;
        let job = |pattern, read_percent, limit| Defaults { pattern, read_percent, limit };
        let writes = |pattern, limit| job(Some(pattern), Some(0), limit);
        let once = Limit { seconds: None, much: Some(Much::Times(1.0)) };
        let action = match what.value.as_str() {
            "purge" => Action::Purge,
            "fill" => prepare(&mut section, Some("filled"), writes(Pattern::Sequential, once))?,
            "torture" => {
                let seconds = Some(Seconds::of(TORTURE_SECONDS, None));
                let limit = Limit { seconds, ..once };
                prepare(&mut section, Some("used"), writes(Pattern::Random, limit))?
            }
            "prepare" => prepare(&mut section, None, job(None, None, NO_LIMIT))?,
            "measure" => Action::Measure(tests(&mut section, job(None, None, NO_LIMIT))?),
            "pass" => pass(&mut section, job(Some(Pattern::Sequential), None, once))?,
            "measure-beside-trim" => beside_trim(&mut section, job(None, None, NO_LIMIT))?,
            "rounds" => rounds(&mut section)?,
            "trim" => Action::Trim(Area::read(&mut section)?),
            "probe-trim" => Action::ProbeTrim(Area::read(&mut section)?),
            "idle" => {
                let seconds = Seconds::read(&mut section)?;
                let missing = || section.error("seconds is missing: how long it is left alone");
                Action::Idle(seconds.ok_or_else(missing)?)
            }
            other => {
                let near = nearest(other, ACTIONS.into_iter());
                let near = near.map_or_else(String::new, |it| format!("; did you mean {it:?}?"));
                let all = ACTIONS.join(", ");
                return Err(
                    section.error_at(what.line, format!("do = {other:?}: there are {all}{near}"))
                );
            }
        };
        let quick = section.flag("quick")?.unwrap_or(true);
        section.finish()?;
        Ok(Step { line, quick, action })
    }

    /// The names of its figures.
    pub(super) fn figures(&self) -> impl Iterator<Item = &str> {
        let tests: Vec<&Tests> = match &self.action {
            Action::Measure(tests)
            | Action::Pass { tests, .. }
            | Action::BesideTrim { tests, .. } => vec![tests],
            Action::Rounds { tests, .. } => tests.iter().collect(),
            Action::Purge
            | Action::Prepare { .. }
            | Action::Trim(_)
            | Action::ProbeTrim(_)
            | Action::Idle(_) => Vec::new(),
        };
        tests.into_iter().flat_map(|tests| tests.named.iter().map(|(name, _)| name.as_str()))
    }

    /// Whether it finds something out.
    pub(super) fn finds(&self) -> bool {
        self.figures().next().is_some()
            || matches!(self.action, Action::ProbeTrim(_) | Action::Idle(_))
    }

    /// Most I/Os it keeps in flight.
    pub(super) fn depth(&self) -> u32 {
        let deepest = |jobs: &Jobs| jobs.depths.iter().copied().max().unwrap_or(1);
        match &self.action {
            Action::Prepare { jobs, .. } => deepest(jobs),
            Action::Measure(tests) | Action::Pass { tests, .. } => deepest(&tests.jobs),
            // The TRIM is a command, too.
            Action::BesideTrim { tests, .. } => deepest(&tests.jobs) + 1,
            Action::Rounds { tests, .. } => {
                tests.iter().map(|tests| deepest(&tests.jobs)).max().unwrap_or(1)
            }
            Action::Purge | Action::Trim(_) | Action::ProbeTrim(_) | Action::Idle(_) => 1,
        }
    }

    /// What it does to a target.
    ///
    /// # Errors
    /// The line and what is wrong, where it does not fit this target.
    pub(super) fn on(&self, scope: &Scope) -> Result<Vec<Phase>, (usize, String)> {
        let here = |(line, what)| (line, what);
        let phases = match &self.action {
            Action::Purge => vec![Phase::Purge],
            Action::Prepare { state, jobs } => {
                let job = jobs.single().map(|variant| jobs.on(scope, variant, None));
                let job = job.transpose().map_err(here)?;
                job.into_iter().map(|job| Phase::Prepare { state: state.clone(), job }).collect()
            }
            Action::Measure(tests) => {
                tests.on(scope, |figure, job| Phase::Measure { figure, job })?
            }
            Action::Pass { tests, points } => {
                tests.on(scope, |figure, job| Phase::Pass { figure, job, points: *points })?
            }
            Action::BesideTrim { tests, trim } => {
                let range = trim.on(scope)?;
                tests.on(scope, |figure, job| Phase::BesideTrim { figure, job, range })?
            }
            Action::Rounds { most, tracked, tests } => {
                let mut jobs = Vec::new();
                for tests in tests {
                    jobs.extend(tests.jobs_on(scope)?);
                }
                vec![Phase::Rounds { most: *most, tracked: tracked.clone(), tests: jobs }]
            }
            Action::Trim(area) => vec![Phase::Trim { range: area.on(scope)? }],
            Action::ProbeTrim(area) => vec![Phase::ProbeTrim { range: area.on(scope)? }],
            Action::Idle(seconds) => vec![Phase::Idle { seconds: seconds.on(scope) }],
        };
        if scope.quick && !self.quick {
            let left_out = |phase: Phase| Phase::LeftOut {
                why: format!("\"{}\" was left out by --quick.", phase.words()),
            };
            return Ok(phases.into_iter().map(left_out).collect());
        }
        Ok(phases)
    }
}

impl Tests {
    fn jobs_on(
        &self,
        scope: &Scope,
    ) -> Result<Vec<(String, fourcorners_record::Job)>, (usize, String)> {
        let job = |(name, variant): &(String, Variant)| {
            Ok((name.clone(), self.jobs.on(scope, *variant, Some(name))?))
        };
        self.named.iter().map(job).collect()
    }

    fn on(
        &self,
        scope: &Scope,
        phase: impl Fn(String, fourcorners_record::Job) -> Phase,
    ) -> Result<Vec<Phase>, (usize, String)> {
        Ok(self.jobs_on(scope)?.into_iter().map(|(figure, job)| phase(figure, job)).collect())
    }
}

fn prepare(
    section: &mut Section<'_>,
    usual: Option<&str>,
    default: Defaults,
) -> Result<Action, LineError> {
    let given = section.text("state")?.map(|state| state.value);
    let state = given.or(usual.map(str::to_string)).ok_or_else(|| {
        section.error("state is missing: a word for the state it leads to, such as \"used\"")
    })?;
    let jobs = Jobs::read(section, default)?;
    if jobs.single().is_none() {
        return Err(section.error("a list makes several jobs of it: write a phase for each"));
    }
    Ok(Action::Prepare { state, jobs })
}

fn pass(section: &mut Section<'_>, default: Defaults) -> Result<Action, LineError> {
    let points = section.whole("places", 2..=MOST_POINTS)?.unwrap_or(POINTS);
    for key in ["seconds", "times", "amount", "pattern"] {
        if section.has(key) {
            let what = format!("a pass goes through its span once, in order: leave {key} out");
            return Err(section.error(what));
        }
    }
    Ok(Action::Pass { tests: tests(section, default)?, points })
}

fn beside_trim(section: &mut Section<'_>, default: Defaults) -> Result<Action, LineError> {
    let trims = section.sections("trim", "[[phase.trim]]")?;
    let [trim]: [Section<'_>; 1] = trims.try_into().map_err(|trims: Vec<_>| {
        let found = trims.len();
        section.error(format!("it needs one [[phase.trim]] that says what is trimmed, not {found}"))
    })?;
    let mut trim = trim;
    let area = Area::read(&mut trim)?;
    trim.finish()?;
    Ok(Action::BesideTrim { tests: tests(section, default)?, trim: area })
}

fn rounds(section: &mut Section<'_>) -> Result<Action, LineError> {
    let most = section.whole("most", 1..=MOST_ROUNDS)?;
    let most = most.ok_or_else(|| section.error("most is missing: how many rounds at most"))?;
    let tracked = section.needed("tracked", "random_write_4k_qd32_steady")?;
    let mut all = Vec::new();
    for mut test in section.sections("test", "[[phase.test]]")? {
        all.push(tests(
            &mut test,
            Defaults { pattern: None, read_percent: None, limit: NO_LIMIT },
        )?);
        test.finish()?;
    }
    let names = || all.iter().flat_map(|tests: &Tests| tests.named.iter()).map(|(name, _)| name);
    if !names().any(|name| *name == tracked.value) {
        let near = nearest(&tracked.value, names().map(String::as_str));
        let near = near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
        let what =
            format!("tracked = {:?} is the figure of no [[phase.test]]{near}", tracked.value);
        return Err(section.error_at(tracked.line, what));
    }
    Ok(Action::Rounds { most: most as usize, tracked: tracked.value, tests: all })
}

fn tests(section: &mut Section<'_>, default: Defaults) -> Result<Tests, LineError> {
    let figure = section.text("figure")?;
    let suffix = section.text("suffix")?;
    let jobs = Jobs::read(section, default)?;
    if let (Some(_), Some(suffix)) = (&figure, &suffix) {
        let what = "figure is the whole name: leave suffix out";
        return Err(section.error_at(suffix.line, what));
    }
    let name = |variant: Variant| match &figure {
        Some(figure) => filled_in(&figure.value, variant),
        None => {
            let suffix = suffix.as_ref().map(|it| format!("_{}", it.value));
            usual_name(jobs.pattern, variant) + &suffix.unwrap_or_default()
        }
    };
    let named: Vec<(String, Variant)> =
        jobs.variants().map(|variant| (name(variant), variant)).collect();
    let line = figure.as_ref().or(suffix.as_ref()).map_or(section.line, |it| it.line);
    for (index, (name, _)) in named.iter().enumerate() {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
        if !begins || !name.chars().all(plain) || name.len() > MOST_NAME {
            let what = format!(
                "a figure's name is a small letter and then small letters, digits and _, at most \
                 {MOST_NAME} of them: {name:?} is not"
            );
            return Err(section.error_at(line, what));
        }
        if named[..index].iter().any(|(other, _)| other == name) {
            let what = format!(
                "two of its figures are called {name}: put {{read_percent}}, {{block}}, {{depth}} or \
                 {{data}} into its name for what is a list"
            );
            return Err(section.error_at(line, what));
        }
    }
    if named.len() > MOST_FIGURES {
        return Err(section.error(format!("it has more than {MOST_FIGURES} figures")));
    }
    Ok(Tests { jobs, named })
}

/// A name with what its braces stand for.
fn filled_in(name: &str, variant: Variant) -> String {
    name.replace("{read_percent}", &variant.read_percent.to_string())
        .replace("{block}", &block_word(variant.block_bytes))
        .replace("{depth}", &variant.queue_depth.to_string())
        .replace("{data}", &data_word(variant.data))
}

/// As the figures of all methods are called.
fn usual_name(pattern: Pattern, variant: Variant) -> String {
    let pattern = match pattern {
        Pattern::Random => "random",
        Pattern::Sequential => "sequential",
    };
    let op = match variant.read_percent {
        100 => "read".to_string(),
        0 => "write".to_string(),
        percent => format!("mixed{percent}"),
    };
    let block = block_word(variant.block_bytes);
    let name = format!("{pattern}_{op}_{block}_qd{}", variant.queue_depth);
    match variant.read_percent {
        100 => name,
        _ => format!("{name}_{}", data_word(variant.data)),
    }
}

fn block_word(bytes: u32) -> String {
    match bytes.is_multiple_of(1024) {
        true => format!("{}k", bytes / 1024),
        false => bytes.to_string(),
    }
}

fn data_word(data: Data) -> String {
    match data {
        Data::Repeating => "repeating".into(),
        Data::Incompressible => "incompressible".into(),
        Data::Compressible(percent) => format!("compressible{percent}"),
    }
}
