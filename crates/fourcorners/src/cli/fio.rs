//! `fourcorners fio`: fio's command line. What is fio's goes to its parser; what is ours is taken out before.

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, ValueEnum};
use fourcorners_catalogue::{self as catalogue, CatalogueError};
use fourcorners_fio::command_line::command_line;
use fourcorners_fio::jobfile::{JobFile, JobRequest};
use fourcorners_fio::output::FORM_OF;
use fourcorners_linux::guard::LEAST_BYTES;

use super::args::TargetArgs;
use super::outcome::{End, Failure};
use super::run as jobs;
use super::run::args::{OutputFormat, RunArgs};

/// Run jobs given as fio's options, and job files, with fio's reports.
///
/// Words that end in .fio, .job or .ini, and -, are job files; others are TARGETs, which take the place of filename.
/// Without --name, the first word is a job file.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Options of fio itself that are understood: --output, --output-format, --minimal, --section, \
--showcmd, --parse-only, --readonly. Ours, beside those of fio: --destroy TARGET, --force TARGET, \
--set KEY=VALUE, --host NAME, --state FILE, --as-is, --overwrite (`fourcorners run --help`). \
A file that does not exist is created with the size that the jobs need; one that exists, and a \
device, is written only if --destroy names it.

Examples:
  fourcorners fio --name=a --rw=randread --bs=4k --iodepth=32 \\
    --ioengine=libaio --runtime=10 --time_based crucial-m4-256gb
  fourcorners fio --name=a --rw=randwrite --size=1g --filename=./test.img \\
    --output-format=json,normal
  fourcorners fio - crucial-m4-256gb < job.fio
  fourcorners fio --showcmd job.fio"
)]
pub(super) struct FioArgs {
    /// fio's options, job files and targets
    #[arg(
        value_name = "OPTION|JOB.fio|TARGET",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required = true
    )]
    words: Vec<String>,
}

pub(super) fn run(args: &FioArgs) -> Result<End, Failure> {
    if args.words.iter().any(|word| VERSION.contains(&word.as_str())) {
        let ours = env!("CARGO_PKG_VERSION");
        writeln!(stdout(), "{FORM_OF} (by fourcorners {ours})")?;
        return Ok(End::Done);
    }
    let (mut run, words) = ours(&args.words).map_err(Failure::Usage)?;
    let line = command_line(&words).map_err(|error| Failure::Usage(error.to_string()))?;
    let names_a_job = line.settings.iter().any(|(key, _)| key == "name");
    let mut files: Vec<PathBuf> = Vec::new();
    for word in line.plain {
        let is_first = files.is_empty() && run.args.targets.is_empty();
        match is_job_file(&word) || (!names_a_job && is_first) {
            true => files.push(word.into()),
            false => run.args.targets.push(word),
        }
    }
    const NO_JOB: &str = "there is no job: --name=NAME begins one, or give a job file";
    // No option of fio's is as near.
    let slip = |key: &&String| strsim::damerau_levenshtein(key, "name") == 1;
    if !names_a_job && let Some(key) = line.settings.iter().map(|(key, _)| key).find(slip) {
        return Err(Failure::Usage(format!(
            "--{key}: there is no such option; did you mean --name?"
        )));
    }
    if files.is_empty() && !names_a_job {
        return Err(Failure::Usage(NO_JOB.into()));
    }
    // A word that was taken for a job file as there was no other.
    if let [taken] = &files[..]
        && !names_a_job
        && !taken.to_str().is_some_and(is_job_file)
        && taken.symlink_metadata().is_err()
    {
        let file = taken.display();
        return Err(Failure::Usage(format!("{NO_JOB}; {file}, which would be one, is not there")));
    }
    let name = files.first().cloned().unwrap_or_else(|| "command line".into());
    run.args.job_file = name;
    let sources = files.iter().map(|path| jobs::source(path)).collect::<Result<Vec<_>, _>>()?;
    let request =
        JobRequest { options: &line.settings, sources: &sources, sections: &run.args.section };
    if run.args.showcmd {
        return jobs::show(&request);
    }
    let file = jobs::understood(&request)?;
    if run.read_only && file.changes(|_| true) {
        let why = "--readonly: a job writes or trims: leave --readonly out, or change rw";
        return Err(Failure::Usage(why.into()));
    }
    let mut args = run.args;
    create_missing(&mut args, &file);
    jobs::run_jobs(&args, file)
}

/// What asks which fio this is.
const VERSION: [&str; 4] = ["--version", "-version", "--v", "-v"];

/// A job file by its name, or what comes on standard input.
fn is_job_file(word: &str) -> bool {
    let end = Path::new(word).extension().and_then(|end| end.to_str());
    word == "-" || end.is_some_and(|end| ["fio", "job", "ini"].contains(&end))
}

/// As fio does, gives files that are not there the size that the jobs need, where all targets are such files.
fn create_missing(args: &mut RunArgs, file: &JobFile) {
    let named: Vec<&str> = match args.targets.is_empty() {
        true => file.filenames().flatten().collect(),
        false => args.targets.iter().map(String::as_str).collect(),
    };
    let is_missing = |name: &&str| {
        let is_model = name.ends_with(".toml")
            || !matches!(catalogue::built_in(name, &[]), Err(CatalogueError::Unknown { .. }));
        !is_model && Path::new(name).symlink_metadata().is_err()
    };
    if !named.is_empty() && named.iter().all(is_missing) {
        let bytes = file.needed_bytes(|_| true);
        args.on.size = bytes.map(|bytes| bytes.max(LEAST_BYTES).to_string());
    }
}

/// The part of a command line that is not about jobs.
struct Ours {
    args: RunArgs,
    read_only: bool,
}

/// Takes out what is ours and what fio has for itself; the rest is about jobs.
fn ours(words: &[String]) -> Result<(Ours, Vec<String>), String> {
    let nothing = TargetArgs {
        set: Vec::new(),
        host: None,
        size: None,
        destroy: Vec::new(),
        force: Vec::new(),
    };
    let args = RunArgs {
        job_file: PathBuf::new(),
        targets: Vec::new(),
        output_format: vec![OutputFormat::Normal],
        json: false,
        output: None,
        overwrite: false,
        as_is: false,
        parse_only: false,
        section: Vec::new(),
        showcmd: false,
        cpus: None,
        state: None,
        on: nothing,
    };
    let mut ours = Ours { args, read_only: false };
    let mut rest = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let option = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).unwrap_or_default();
        let (key, given) = match option.split_once('=') {
            Some((key, value)) => (key, Some(value.to_string())),
            None => (option, None),
        };
        let args = &mut ours.args;
        match key {
            "as-is" => args.as_is = true,
            "overwrite" => args.overwrite = true,
            "showcmd" => args.showcmd = true,
            "parse-only" => args.parse_only = true,
            "readonly" => ours.read_only = true,
            "minimal" => args.output_format = vec![OutputFormat::Terse],
            "destroy" | "force" | "set" | "host" | "state" | "output" | "output-format"
            | "section" | "terse-version" => {
                let value = given.or_else(|| words.next().cloned());
                let value = value.ok_or_else(|| format!("--{key} needs a value"))?;
                match key {
                    "destroy" => args.on.destroy.push(value),
                    "force" => args.on.force.push(value),
                    "set" => args.on.set.push(value),
                    "host" => args.on.host = Some(value),
                    "state" => args.state = Some(value.into()),
                    "output" => args.output = Some(value.into()),
                    "output-format" => args.output_format = formats(&value)?,
                    "section" => args.section.push(value),
                    _ if value == "3" => {}
                    _ => return Err(format!("--terse-version={value}: there is version 3 only")),
                }
            }
            _ => rest.push(word.clone()),
        }
    }
    Ok((ours, rest))
}

fn formats(list: &str) -> Result<Vec<OutputFormat>, String> {
    let format = |name: &str| {
        OutputFormat::from_str(name, false)
            .map_err(|_| format!("--output-format={list}: there are normal, json, json+ and terse"))
    };
    list.split(',').map(format).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ours_is_taken_out_of_what_is_fios() {
        let words =
            ["--name=a", "--destroy", "/dev/sdx", "--output-format=json,terse", "--size=1g"];
        let (ours, rest) = ours(&words.map(String::from)).expect("it is understood");
        assert_eq!(rest, ["--name=a", "--size=1g"]);
        assert_eq!(ours.args.on.destroy, ["/dev/sdx"]);
        assert_eq!(ours.args.output_format, [OutputFormat::Json, OutputFormat::Terse]);
    }

    #[test]
    fn what_has_no_such_value_is_refused() {
        for words in [&["--destroy"][..], &["--output-format=xml"], &["--terse-version=5"]] {
            let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
            assert!(ours(&words).is_err(), "{words:?}");
        }
        assert!(is_job_file("a.fio") && is_job_file("-") && !is_job_file("/dev/sda"));
    }
}
