//! Progress on stderr: bars when a person is looking, and where stderr is a pipe or a file a line of text every so often: hours without
//! a word look like a fault. Programs that asked for it are told.

use std::io::{IsTerminal, stderr};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fourcorners_lab::review::{Checkpoint, Phase, Step, Watch};
use fourcorners_record::{Ended, Record};
use fourcorners_report::shortened;
use fourcorners_run::Second;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::interrupt::Interrupt;
use super::keeper;
use super::terminal::{columns_of, say};
use super::told::{Audience, Told};
use crate::event::Event;

/// Fineness of a bar.
const STEPS: u64 = 10_000;
/// Before the first line in a pipe: what is done by then needs none.
const FIRST_LINE: Duration = Duration::from_secs(10);
/// Between two lines in a pipe.
const BETWEEN_LINES: Duration = Duration::from_secs(30);
/// Columns of a name and of words beside a bar, at least and at most.
const NAME_COLUMNS: RangeInclusive<usize> = 16..=48;
const WORDS_COLUMNS: RangeInclusive<usize> = 8..=34;
/// Columns of a bar at least, and of the numbers and blanks around it.
const BAR_COLUMNS: usize = 8;
const AROUND_COLUMNS: usize = 19;

/// The progress of all reviews of a run.
#[derive(Debug)]
pub(super) struct Progress {
    shown_by: ShownBy,
    audience: Audience,
    interrupt: Interrupt,
    /// Seconds on the drives' clocks that figures took which were measured in this run.
    measured_s: Arc<Mutex<f64>>,
}

#[derive(Debug)]
enum ShownBy {
    Bars(MultiProgress),
    Lines(Arc<Lines>),
    Nothing,
}

impl Progress {
    /// Draws on stderr if it is a terminal, else says a line now and then; nothing if it is to be quiet.
    pub(super) fn new(interrupt: Interrupt, quiet: bool) -> Progress {
        let shown_by = match (quiet, stderr().is_terminal()) {
            (true, _) => ShownBy::Nothing,
            (false, true) => {
                let target = ProgressDrawTarget::stderr();
                ShownBy::Bars(MultiProgress::with_draw_target(target))
            }
            (false, false) => ShownBy::Lines(Arc::new(Lines::new(Instant::now()))),
        };
        let measured_s = Arc::new(Mutex::new(0.0));
        Progress { shown_by, audience: Audience::default(), interrupt, measured_s }
    }

    /// Tells programs, too.
    pub(super) fn telling(self, audience: Audience) -> Progress {
        Progress { audience, ..self }
    }

    /// How long it took to measure what was measured in this run, not what an earlier one has left, on the drives' clocks.
    pub(super) fn measured_s(&self) -> f64 {
        *self.measured_s.lock().expect("no holder panics")
    }

    /// Whether it was interrupted.
    pub(super) fn stopped(&self) -> bool {
        self.interrupt.asked()
    }

    /// Says something without tearing the bars apart.
    pub(super) fn warn(&self, message: &str) {
        let message = format!("fourcorners: {message}");
        match &self.shown_by {
            ShownBy::Bars(bars) => bars.suspend(|| say(&message)),
            _ => say(&message),
        }
    }

    /// Says what will be done: a method of a target, and how long it takes on the drive's clock.
    pub(super) fn planned(&self, target: &str, method: &str, seconds: f64) {
        if let ShownBy::Lines(lines) = &self.shown_by {
            lines.planned();
        }
        let (target, method) = (target.into(), method.into());
        self.audience.tell(&Event::Planned { target, method, seconds });
    }

    /// That of one target.
    pub(super) fn of(&self, target: &str) -> ReviewProgress {
        self.of_method(target, "")
    }

    /// That of one method of a target.
    pub(super) fn of_method(&self, target: &str, method: &str) -> ReviewProgress {
        let what = format!("{target} {method}").trim_end().to_string();
        let shown = match &self.shown_by {
            ShownBy::Bars(bars) => Shown::Bar(bar(bars, &what)),
            ShownBy::Lines(lines) => {
                Shown::Line(Line { lines: Arc::clone(lines), what, words: String::new() })
            }
            ShownBy::Nothing => Shown::Nothing,
        };
        let told = (!self.audience.is_empty())
            .then(|| Told::new(self.audience.clone(), target.into(), method.into()));
        let (interrupt, measured_s) = (self.interrupt.clone(), Arc::clone(&self.measured_s));
        ReviewProgress { shown, told, interrupt, under_way: Vec::new(), measured_s }
    }

    /// A review has come to its end.
    pub(super) fn ended(&self, target: &str, record: &Record) {
        if let ShownBy::Lines(lines) = &self.shown_by {
            lines.ended();
        }
        let (method, id) = (record.method.clone(), record.id.clone());
        let cut_short = record.ended != Ended::Complete;
        let (target, kept) = (target.into(), keeper::is_kept(record));
        self.audience.tell(&Event::Ended { target, method, id, cut_short, kept });
    }
}

/// How far all reviews of a run are, for a reader who sees no bars.
#[derive(Debug)]
struct Lines(Mutex<SoFar>);

#[derive(Debug)]
struct SoFar {
    planned: usize,
    ended: usize,
    next: Instant,
}

impl Lines {
    fn new(now: Instant) -> Lines {
        Lines(Mutex::new(SoFar { planned: 0, ended: 0, next: now + FIRST_LINE }))
    }

    fn planned(&self) {
        self.0.lock().expect("no holder panics").planned += 1;
    }

    fn ended(&self) {
        self.0.lock().expect("no holder panics").ended += 1;
    }

    /// The line that is due; none before its time.
    fn due(&self, now: Instant, what: &str, words: &str, part_done: f64) -> Option<String> {
        let mut so_far = self.0.lock().expect("no holder panics");
        if now < so_far.next {
            return None;
        }
        so_far.next = now + BETWEEN_LINES;
        let of = match so_far.planned {
            0 | 1 => String::new(),
            planned => format!("{} of {planned} done; ", so_far.ended),
        };
        let words = if words.is_empty() { String::new() } else { format!(", {words}") };
        Some(format!("fourcorners: {of}{what} {:.0} %{words}", part_done * 100.0))
    }
}

/// One review among them.
#[derive(Debug)]
struct Line {
    lines: Arc<Lines>,
    what: String,
    words: String,
}

/// How many columns the name and the words beside a bar get. First the bar shrinks, then the words, and the name last. A line that is
/// longer than the terminal would be drawn again below itself each time.
fn layout(name: usize, columns: usize) -> [usize; 2] {
    let room = columns.saturating_sub(BAR_COLUMNS + AROUND_COLUMNS);
    let most = room.saturating_sub(*WORDS_COLUMNS.start());
    let name = name.clamp(*NAME_COLUMNS.start(), *NAME_COLUMNS.end()).min(most);
    [name, (room - name).min(*WORDS_COLUMNS.end())]
}

fn bar(bars: &MultiProgress, what: &str) -> ProgressBar {
    let [width, words] = layout(what.chars().count(), columns_of(stderr()).into());
    let template =
        format!("{{prefix}} {{wide_bar}} {{percent:>3}} % {{msg:{words}!}} {{eta:>4}} left");
    let style = ProgressStyle::with_template(&template).expect("the template is well formed");
    let bar = bars.add(ProgressBar::new(STEPS)).with_style(style);
    let name = shortened(what, width);
    bar.set_prefix(format!("{name:width$}"));
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

#[derive(Debug)]
enum Shown {
    Bar(ProgressBar),
    Line(Line),
    Nothing,
}

/// Shows one review and passes a Ctrl-C on to it.
#[derive(Debug)]
pub(super) struct ReviewProgress {
    shown: Shown,
    told: Option<Told>,
    interrupt: Interrupt,
    /// The figures of the phase that is under way.
    under_way: Vec<FigureName>,
    measured_s: Arc<Mutex<f64>>,
}

/// Where a figure is in its record.
#[derive(Clone, PartialEq, Eq, Debug)]
enum FigureName {
    Of(String),
    /// What is replayed, and to what.
    Replayed(String, String),
}

impl FigureName {
    /// Those that a phase measures.
    fn all_of(phase: &Phase) -> Vec<FigureName> {
        match phase {
            Phase::Measure { figure, .. }
            | Phase::Pass { figure, .. }
            | Phase::Runs { figure, .. }
            | Phase::BesideTrim { figure, .. } => vec![FigureName::Of(figure.clone())],
            Phase::Rounds { tests, .. } => {
                tests.iter().map(|(figure, _)| FigureName::Of(figure.clone())).collect()
            }
            Phase::Replay(replayed) => {
                vec![FigureName::Replayed(replayed.name.clone(), replayed.figure.into())]
            }
            _ => Vec::new(),
        }
    }

    /// Seconds that it took, on the drive's clock.
    fn took_s(&self, record: &Record) -> Option<f64> {
        match self {
            FigureName::Of(figure) => Some(record.figures.get(figure)?.duration_s),
            FigureName::Replayed(of, figure) => {
                Some(record.replays.get(of)?.figures.get(figure)?.elapsed_s)
            }
        }
    }
}

impl Watch for ReviewProgress {
    fn step(&mut self, step: &Step<'_>) {
        self.under_way = FigureName::all_of(step.phase);
        if matches!(step.phase, Phase::LeftOut { .. }) {
            return;
        }
        match &mut self.shown {
            Shown::Bar(bar) => bar.set_message(step.phase.words()),
            Shown::Line(line) => line.words = step.phase.words(),
            Shown::Nothing => {}
        }
        if let Some(told) = &mut self.told {
            told.step(step);
        }
    }

    fn go_on(&mut self, part_done: f64) -> bool {
        match &mut self.shown {
            Shown::Bar(bar) => bar.set_position((part_done * STEPS as f64) as u64),
            Shown::Line(line) => {
                let due = line.lines.due(Instant::now(), &line.what, &line.words, part_done);
                due.iter().for_each(|said| say(said));
            }
            Shown::Nothing => {}
        }
        if let Some(told) = &mut self.told {
            told.part(part_done);
        }
        !self.interrupt.asked()
    }

    fn seconds(&mut self, so_far: &[Second]) {
        if let Some(told) = &mut self.told {
            told.seconds(so_far);
        }
    }

    fn measured(&mut self, so_far: &Record) {
        let took = self.under_way.drain(..).filter_map(|figure| figure.took_s(so_far));
        *self.measured_s.lock().expect("no holder panics") += took.sum::<f64>();
        if let Some(told) = &mut self.told {
            told.measured(so_far);
        }
    }

    fn reached(&mut self, _checkpoint: &Checkpoint) {}
}

impl Drop for ReviewProgress {
    fn drop(&mut self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_never_longer_than_the_terminal() {
        for columns in 40..300 {
            for name in 0..80 {
                let [width, words] = layout(name, columns);
                let all = width + words + BAR_COLUMNS + AROUND_COLUMNS;
                assert!(all <= columns, "{columns} columns, a name of {name}");
                // Nothing is cut where there is room for it.
                let whole = name.clamp(16, 48);
                assert!(width == whole || columns < whole + 8 + BAR_COLUMNS + AROUND_COLUMNS);
                assert!(words == 34 || columns < whole + 34 + BAR_COLUMNS + AROUND_COLUMNS);
            }
        }
        assert_eq!(layout("crucial-m4-256gb four-corners".len(), 80), [29, 24]);
    }

    #[test]
    fn a_pipe_hears_a_line_every_so_often_and_not_more() {
        let began = Instant::now();
        let lines = Lines::new(began);
        (0..3).for_each(|_| lines.planned());
        let at =
            |seconds| lines.due(began + Duration::from_secs(seconds), "m4 toms", "Purge", 0.254);
        assert_eq!(at(9), None, "what takes less needs none");
        let said = Some("fourcorners: 0 of 3 done; m4 toms 25 %, Purge".to_string());
        assert_eq!(at(10), said);
        assert_eq!(at(39), None);
        lines.ended();
        assert_eq!(at(40), said.map(|said| said.replace("0 of 3", "1 of 3")));
    }
}
