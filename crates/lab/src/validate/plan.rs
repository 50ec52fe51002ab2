//! A published figure's test as a plan that a review can carry out, so that a row of the fidelity table
//! is what a user measures.

use fourcorners_catalogue::Profile;
use fourcorners_record::{Data, Job, Pattern};
use fourcorners_run::trim::Range;

use super::conventions;
use super::figure::{Figure, built_in};
use super::names::{Found, Names};
use super::question::{Asked, Question, ask};
use super::reading::By;
use super::runs::{State, Test};
use crate::review::{Phase, Published};
use crate::statistic::Statistic;

/// A built-in figure whose test can be run.
#[derive(Clone, PartialEq, Debug)]
pub struct PublishedFigure(Figure);

impl PublishedFigure {
    /// The figure of this id; `None` where none has it.
    pub fn named(id: &str) -> Option<PublishedFigure> {
        built_in().into_iter().find(|figure| figure.id == id).map(PublishedFigure)
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Its test on this drive: as the fidelity table has it where the drive is one of the figure's, by the
    /// same rules on any other.
    ///
    /// # Errors
    /// Why it cannot be run, or not on this drive.
    pub fn on(&self, profile: &Profile) -> Result<Published, String> {
        let id = self.id();
        let names = Names::new();
        let Asked { question, .. } =
            ask(&self.0, &names).map_err(|why| format!("{id} cannot be run: {why}"))?;
        let statistic = statistic(&question);
        let known: Vec<&Test> =
            question.tests().into_iter().filter(|test| test.drive == profile.name).collect();
        let as_set = |test: &&&Test| {
            test.set == profile.set && test.host == profile.host_controller.as_deref()
        };
        let mut tests: Vec<Test> =
            known.iter().filter(as_set).map(|test| (*test).clone()).collect();
        if tests.is_empty() && profile.set.is_empty() && !known.is_empty() {
            return Err(format!(
                "{id} is run with another host: {}",
                commands(id, &question).join("; ")
            ));
        }
        if tests.is_empty() {
            let found = Found { profile, family: "", usual: false };
            let test =
                self.0.read(&names).and_then(|reading| conventions::test(&self.0, &reading, found));
            let test = test.map_err(|why| format!("{id}: {why}"))?;
            tests.push(test);
        }
        tests.dedup();
        let mut asked: Vec<(String, Statistic)> = Vec::new();
        let mut phases = Vec::new();
        for test in &tests {
            let figure = name(test);
            if asked.iter().all(|(known, _)| *known != figure) {
                phases.extend(test.phases(&figure, profile.model.kind() == "hdd"));
                asked.push((figure, of_state(statistic, test)));
            }
        }
        let Figure { test, metric, source, .. } = &self.0;
        let about = format!(
            "Published of {}: {} {metric} ({}), {source}",
            self.0.drive_name(),
            self.0.published(),
            test.words()
        );
        Ok(Published { id: id.into(), about, phases, asked })
    }
}

/// What is compared.
fn statistic(question: &Question) -> Statistic {
    match question {
        Question::Value { statistic, .. } => *statistic,
        Question::Ordering { by: By::MaxLatency, .. } => Statistic::MaxMs,
        Question::Ratio { .. } | Question::Ordering { .. } => Statistic::MbPerS,
    }
}

/// Ratios and orderings are by the steady part of what is measured until it is steady.
fn of_state(statistic: Statistic, test: &Test) -> Statistic {
    match (statistic, test.state) {
        (Statistic::MbPerS, State::Steady) => Statistic::SteadyIops,
        _ => statistic,
    }
}

/// The commands that repeat a question's tests: the drives that share a host in one.
pub(super) fn commands(id: &str, question: &Question) -> Vec<String> {
    let mut hosts: Vec<(Option<&str>, &[String], Vec<&str>)> = Vec::new();
    for test in question.tests() {
        match hosts.iter_mut().find(|(host, set, _)| (*host, *set) == (test.host, &test.set[..])) {
            Some((.., drives)) if drives.contains(&test.drive.as_str()) => {}
            Some((.., drives)) => drives.push(&test.drive),
            None => hosts.push((test.host, &test.set, vec![&test.drive])),
        }
    }
    let command = |(host, set, drives): (Option<&str>, &[String], Vec<&str>)| {
        let host = host.map_or_else(String::new, |host| format!(" --host {host}"));
        let set: Vec<String> = set.iter().map(|set| format!(" --set {set}")).collect();
        format!("fourcorners review {}{host}{} --methods {id}", drives.join(" "), set.concat())
    };
    hosts.into_iter().map(command).collect()
}

/// The figure's name in a record: as those of our own methods, with the state it was measured in.
fn name(test: &Test) -> String {
    let Job { pattern, read_percent, block_bytes, queue_depth, data, fua, jobs, .. } = test.job;
    let pattern = match pattern {
        Pattern::Random => "random",
        Pattern::Sequential => "sequential",
    };
    let (op, data) = match (read_percent, data) {
        (100, _) => ("read".to_string(), ""),
        (0, Data::Repeating) => ("write".into(), "_repeating"),
        (0, _) => ("write".into(), "_incompressible"),
        (percent, _) => (format!("mixed{percent}"), ""),
    };
    let block = match block_bytes % 1024 {
        0 => format!("{}k", block_bytes / 1024),
        _ => format!("{block_bytes}b"),
    };
    let state = match test.state {
        State::Fresh => "",
        State::Used { .. } => "_used",
        State::Swept { .. } => "_swept",
        State::Begun { .. } => "_begun",
        State::Trimmed { .. } => "_trimmed",
        State::BufferFull { .. } => "_buffer_full",
        State::Steady => "_steady",
    };
    let fua = if fua { "_fua" } else { "" };
    let jobs = if jobs > 1 { format!("_jobs{jobs}") } else { String::new() };
    format!("{pattern}_{op}_{block}_qd{queue_depth}{data}{state}{fua}{jobs}")
}

impl Test {
    /// What leads to it on a purged drive, and the test itself.
    fn phases(&self, figure: &str, is_disk: bool) -> Vec<Phase> {
        let measure = Phase::Measure { figure: figure.into(), job: self.job.clone() };
        if is_disk {
            return vec![Phase::Purge, measure];
        }
        let state = |state: &str, job: Job| Phase::Prepare { state: state.into(), job };
        let mut phases = vec![Phase::Purge];
        let jobs = self.preparation();
        let last = jobs.len().saturating_sub(1);
        phases.extend(jobs.into_iter().enumerate().map(|(place, job)| match self.state {
            State::Begun { .. } => state("begun", job),
            State::BufferFull { .. } => state("with a full buffer", job),
            _ if place == last && place > 0 => state("used", job),
            _ => state("filled", job),
        }));
        if matches!(self.state, State::Trimmed { .. }) {
            phases.push(Phase::Trim { range: Range { start_bytes: 0, bytes: self.usable_bytes } });
        }
        phases.extend(self.written_before().map(|job| state("span written", job)));
        phases.push(measure);
        phases
    }
}
