//! fio's command line: the options of jobs, as `--name=a --rw=randread`.
//!
//! What comes of it is what a job file has: settings in their order, in which `name` begins a job. Those before the
//! first `name`, and those of a job called `global`, are for all jobs that follow.

/// A command line that was taken apart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CommandLine {
    /// Options of jobs, without their dashes, and their values.
    pub settings: Vec<(String, Option<String>)>,
    /// What stands alone, in its order: job files and targets.
    pub plain: Vec<String>,
}

/// Why a command line cannot be taken apart.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CommandLineError {
    /// An option at the end that needs a value.
    #[error("{option} needs a value: --{option}=VALUE")]
    NoValue {
        /// Its name.
        option: String,
    },
    /// What fio itself has beside jobs, and we do not.
    #[error("--{option}: {why}")]
    Refused {
        /// Its name.
        option: String,
        /// Why.
        why: &'static str,
    },
}

/// Options that may stand without a value (those of fio 3.33 that are "empty or boolean value" in `fio --cmdhelp`).
const ALONE: &[&str] = &[
    "bs_unaligned",
    "norandommap",
    "time_based",
    "verify_only",
    "exitall",
    "exitall_on_error",
    "stonewall",
    "wait_for_previous",
    "new_group",
    "thread",
    "group_reporting",
    "zero_buffers",
    "refill_buffers",
    "hipri",
    "fixedbufs",
    "registerfiles",
    "sqthread_poll",
    "userspace_reap",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
];

/// Options of fio as a program that say how it shows itself: nothing is different without them.
const SILENT: &[&str] = &[
    "eta",
    "eta-newline",
    "eta-interval",
    "status-interval",
    "max-jobs",
    "alloc-size",
    "debug",
    "aux-path",
    "warnings-fatal",
    "append-terse",
];
/// Those of them that have no value.
const SILENT_ALONE: &[&str] = &["warnings-fatal", "append-terse"];

const REFUSED: &[(&str, &str)] = &[
    ("client", SERVER),
    ("server", SERVER),
    ("daemonize", SERVER),
    ("remote-config", SERVER),
    ("trigger-file", TRIGGER),
    ("trigger-timeout", TRIGGER),
    ("trigger", TRIGGER),
    ("trigger-remote", TRIGGER),
    ("idle-prof", "how idle the machine is, is not measured beside jobs; leave it out"),
    ("inflate-log", "logs are written as text, and need not be inflated"),
    ("crctest", "it tests fio's own checksums; type fio itself"),
    ("cpuclock-test", "it tests fio's own clock; type fio itself"),
    ("cmdhelp", "docs/FIO.md lists what options do here; fio itself explains its own"),
    ("enghelp", "docs/FIO.md lists what engines do here; fio itself explains its own"),
    ("bandwidth-log", "give write_bw_log to the jobs instead"),
    ("latency-log", "give write_lat_log to the jobs instead"),
    ("merge-blktrace-only", "traces are merged by none of the commands here"),
    ("profile", "a profile is code in fio; write its jobs out"),
];
const SERVER: &str = "jobs run on this machine only";
const TRIGGER: &str = "there are no triggers; stop a run with Ctrl-C or runtime";

/// Takes a command line apart.
///
/// # Errors
/// [`CommandLineError`] for the first word that cannot be taken. Whether an option is known is asked when the jobs
/// are described.
pub fn command_line(words: &[String]) -> Result<CommandLine, CommandLineError> {
    let mut line = CommandLine::default();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        // As getopt_long_only(3): one dash will do.
        let option = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
        let Some(option) = option.filter(|option| !option.is_empty()) else {
            line.plain.push(word.clone());
            continue;
        };
        let (key, mut value) = match option.split_once('=') {
            Some((key, value)) => (key.to_string(), Some(value.to_string())),
            None => (option.to_string(), None),
        };
        if let Some((_, why)) = REFUSED.iter().find(|(name, _)| *name == key) {
            return Err(CommandLineError::Refused { option: key, why });
        }
        let stands_alone = [ALONE, SILENT_ALONE].concat().contains(&key.as_str());
        if value.is_none() && !stands_alone {
            let next = words.next_if(|next| !next.starts_with("--"));
            value = Some(
                next.cloned().ok_or_else(|| CommandLineError::NoValue { option: key.clone() })?,
            );
        }
        if !SILENT.contains(&key.as_str()) {
            line.settings.push((key, value));
        }
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(line: &str) -> Result<CommandLine, CommandLineError> {
        command_line(&line.split(' ').map(String::from).collect::<Vec<_>>())
    }

    fn shown(line: &str) -> (Vec<String>, Vec<String>) {
        let taken = taken(line).expect(line);
        let settings = taken.settings.into_iter().map(|(key, value)| match value {
            Some(value) => format!("{key}={value}"),
            None => key,
        });
        (settings.collect(), taken.plain)
    }

    #[test]
    fn options_are_taken_as_fio_takes_them() {
        let line = "--name=a --rw randread -bs=4k --time_based --direct 1 job.fio - --eta=never --eta never m4";
        let (settings, plain) = shown(line);
        assert_eq!(settings, ["name=a", "rw=randread", "bs=4k", "time_based", "direct=1"]);
        assert_eq!(plain, ["job.fio", "-", "m4"]);
        // A value may hold what would end it in a job file.
        assert_eq!(shown("--name=a --ss=iops:1%;#").0, ["name=a", "ss=iops:1%;#"]);
        assert_eq!(shown("--offset -1").0, ["offset=-1"]);
    }

    #[test]
    fn what_cannot_be_taken_is_named() {
        for (line, said) in [
            ("--rw", "rw needs a value"),
            ("--rw --bs=4k", "rw needs a value"),
            ("--client=host", "--client: jobs run on this machine only"),
            ("--enghelp", "--enghelp: "),
        ] {
            let error = taken(line).expect_err(line).to_string();
            assert!(error.contains(said), "{line}: {error}");
        }
    }
}
