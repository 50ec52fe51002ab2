//! `fourcorners grade`: how often verdicts are right, or with `--findings` what `diagnose` finds.

mod findings;

use std::io::{Write, stdout};

use clap::{Args as ClapArgs, ValueEnum};
use comfy_table::{ContentArrangement, Table, presets};
use fourcorners_lab::grade::{
    Condition, Grades, NoiseLevel, Options, draw, grade, markdown, method_list, methods,
};
use fourcorners_lab::review::Method;

use super::how_far::HowFar;
use super::interrupt::Interrupt;
use super::outcome::{End, Failure};
use super::terminal::columns;
use super::validate::workers;

/// Grade verdicts on virtual drives for which the truth is known
///
/// Draws drives from the catalogue at random, reviews them on a simulated machine with the given noise, and
/// compares the verdicts with the truth. It takes about 20 s of CPU time per drive, including the
/// quiet reviews that establish the truth.
#[derive(Debug, ClapArgs)]
pub(super) struct GradeArgs {
    /// Noise of the simulated machine; with --findings that of `diagnose --noise`
    /// [default: none; with --markdown all three]
    #[arg(long, value_name = "LEVEL")]
    noise: Option<NoiseArg>,
    /// Grade quick reviews [default: full reviews; with --markdown both]
    #[arg(long)]
    quick: bool,
    /// Number of drives to draw
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = up_to_a_million)]
    drives: usize,
    /// Seed of the draw
    #[arg(long, default_value_t = 1, value_name = "N", allow_negative_numbers = true, value_parser = crate::cli::args::seed)]
    seed: u64,
    /// Only the drive with this number, counted from 0
    #[arg(long, value_name = "N")]
    only: Option<usize>,
    /// Grade what `diagnose` finds instead of verdicts, a second of CPU time per drive; with --markdown through
    /// all noises and on every drive of the catalogue, as in docs/DIAGNOSE.md
    #[arg(long, conflicts_with_all = ["quick", "methods"])]
    findings: bool,
    /// Only these methods, separated by commas [default: all that can be graded]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = graded)]
    methods: Vec<Method>,
    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

/// A noise level of `grade`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum NoiseArg {
    /// No noise
    None,
    /// A quiet machine: 1.5 % of the time is lost
    Lab,
    /// A shared machine: 12 % of the time is lost
    Host,
}

fn up_to_a_million(text: &str) -> Result<usize, String> {
    let number = text.parse().map_err(|_| "give a whole number".to_string())?;
    (1..=1_000_000).contains(&number).then_some(number).ok_or("from 1 to 1,000,000".into())
}

fn graded(text: &str) -> Result<Method, String> {
    methods().find(|method| method.name() == text).ok_or_else(|| {
        let names: Vec<&str> = methods().map(Method::name).collect();
        format!("its verdicts cannot be graded; choose from: {}", names.join(", "))
    })
}

pub(super) fn run(args: &GradeArgs) -> Result<End, Failure> {
    if let Some(only) = args.only.filter(|only| *only >= args.drives) {
        return Err(Failure::Usage(format!(
            "--only {only}: drives are counted from 0, and --drives {} has none of that number",
            args.drives
        )));
    }
    if args.findings {
        return findings::run(args);
    }
    if let Some(only) = args.only.filter(|_| !args.methods.is_empty()) {
        let drawn = draw(args.seed, only);
        if !drawn.methods().iter().any(|method| args.methods.contains(method)) {
            return Err(Failure::Usage(format!(
                "--only {only} --methods {}: drive {only} is drawn for {}: name one of them, or leave --methods out",
                method_list(&args.methods),
                method_list(drawn.methods())
            )));
        }
    }
    let levels = match args.noise {
        Some(noise) => vec![level_of(noise)],
        None if args.markdown => NoiseLevel::ALL.to_vec(),
        None => vec![NoiseLevel::None],
    };
    let lengths = match (args.quick, args.markdown) {
        (true, _) => vec![true],
        (false, true) => vec![false, true],
        (false, false) => vec![false],
    };
    let of_length = |&quick: &bool| levels.iter().map(move |&noise| Condition { noise, quick });
    let options = Options {
        conditions: lengths.iter().flat_map(of_length).collect(),
        drives: args.drives,
        seed: args.seed,
        only: args.only,
        methods: args.methods.clone(),
        workers: workers(),
    };
    let interrupt = Interrupt::listen()?;
    let how_far = HowFar::new("grade");
    let watch = |done: usize| {
        how_far.drives(done, args.drives);
        !interrupt.asked()
    };
    let all = grade(&options, &watch, &|line: &str| how_far.line(line));
    how_far.clear();
    if let Some(only) = args.only.filter(|_| !args.json && !args.markdown) {
        let drawn = draw(args.seed, only).arguments();
        let quick = if args.quick { " --quick" } else { "" };
        writeln!(stdout().lock(), "On a quiet machine: fourcorners review {drawn}{quick}\n")?;
    }
    let text = match &all[..] {
        [one] if args.json => serde_json::to_string(one)?,
        [one] if !args.markdown => table(one),
        all => markdown(all).trim_end().to_string(),
    };
    writeln!(stdout().lock(), "{text}")?;
    Ok(if interrupt.asked() { End::Incomplete } else { End::Done })
}

fn level_of(noise: NoiseArg) -> NoiseLevel {
    match noise {
        NoiseArg::None => NoiseLevel::None,
        NoiseArg::Lab => NoiseLevel::Lab,
        NoiseArg::Host => NoiseLevel::Host,
    }
}

fn table(grades: &Grades) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns());
    let head = ["verdict", "drives", "identifiable", "right", "wrong", "undetermined"];
    table.set_header(head);
    for grade in &grades.verdicts {
        let counts =
            [grade.drives, grade.identifiable, grade.right, grade.wrong, grade.undetermined];
        table.add_row([grade.id.clone()].into_iter().chain(counts.map(|it| it.to_string())));
    }
    let mut text = table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    let worst: Vec<&String> = grades.verdicts.iter().flat_map(|grade| &grade.worst).collect();
    if !worst.is_empty() {
        text.push("\nWrong, by the command that shows it again:".into());
        text.extend(worst.into_iter().cloned());
    }
    text.join("\n")
}
