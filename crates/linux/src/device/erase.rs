//! Purging a real drive by its own command, when that was asked for by name: what a discard leaves in
//! some drives (their own records of wear apart) such a command does not.
//!
//! It is as destructive as a discard of everything, and is done only to a whole drive that the guard
//! has opened and holds for us alone.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::tool::{self, Said};
use crate::guard::{Kind, RealTarget};

/// Longest time an erasure is waited for; large disks take most of a day.
const MOST_TIME: Duration = Duration::from_secs(36 * 3600);
/// Longest time a question is waited for.
const MOST_ANSWER: Duration = Duration::from_secs(60);
/// A drive takes a security erase only with the password that was set before; erasing removes it.
const PASSWORD: &str = "fourcorners";

/// By which command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EraseWith {
    /// NVMe Format with user data erase, by nvme-cli.
    NvmeFormat,
    /// ATA Security Erase Unit, by hdparm.
    AtaSecureErase,
}

impl EraseWith {
    fn program(self) -> &'static str {
        match self {
            EraseWith::NvmeFormat => "nvme",
            EraseWith::AtaSecureErase => "hdparm",
        }
    }

    fn package(self) -> &'static str {
        match self {
            EraseWith::NvmeFormat => "nvme-cli",
            EraseWith::AtaSecureErase => "hdparm",
        }
    }
}

impl fmt::Display for EraseWith {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EraseWith::NvmeFormat => "NVMe format (user data erase)",
            EraseWith::AtaSecureErase => "ATA security erase",
        })
    }
}

/// A drive that can be erased by its own command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Erase {
    with: EraseWith,
    node: PathBuf,
    program: PathBuf,
}

impl Erase {
    /// Checks that a target can be erased so; nothing is changed.
    ///
    /// # Errors
    /// Why not, and what to do.
    pub fn of(with: EraseWith, target: &RealTarget) -> Result<Erase, String> {
        let named = target.path.display();
        if target.kind != Kind::Device {
            return Err(format!("{named} is a file: --purge takes drives only, leave it out"));
        }
        if let Some(whole) = &target.partition_of {
            return Err(format!(
                "{named} is a partition, and {with} erases all of {whole}: name that, or use --purge \
                 discard"
            ));
        }
        let program = tool::find(with.program()).ok_or_else(|| {
            let (program, package) = (with.program(), with.package());
            format!("{program} is not installed, and {with} needs it: install {package}")
        });
        Erase::checked(with, &target.canonical, Path::new("/sys"), program)
    }

    fn checked(
        with: EraseWith,
        node: &Path,
        sys: &Path,
        program: Result<PathBuf, String>,
    ) -> Result<Erase, String> {
        let name = node.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        match with {
            EraseWith::NvmeFormat => {
                let controller = controller_of(name).ok_or_else(|| {
                    format!("{} is no NVMe drive: use --purge discard", node.display())
                })?;
                // Some controllers format all of their namespaces at once (FNA, bit 0).
                let others = namespaces(sys, controller);
                if others > 1 {
                    return Err(format!(
                        "{} is one of {others} namespaces of {controller}, and a format may erase all of \
                         them: use --purge discard",
                        node.display()
                    ));
                }
            }
            EraseWith::AtaSecureErase if !name.starts_with("sd") => {
                return Err(format!("{} is no ATA drive: use --purge discard", node.display()));
            }
            EraseWith::AtaSecureErase => {}
        }
        let erase = Erase { with, node: node.to_path_buf(), program: program? };
        if with == EraseWith::AtaSecureErase {
            erase.may_take_a_password()?;
        }
        Ok(erase)
    }

    /// By which command.
    pub fn with(&self) -> EraseWith {
        self.with
    }

    /// Erases the drive. ALL ITS DATA IS LOST.
    ///
    /// # Errors
    /// What the tool complains with, and what state the drive may be in.
    pub fn run(&self) -> Result<(), String> {
        match self.with {
            EraseWith::NvmeFormat => {
                // Without --force it counts down from ten for somebody to think again; the guard has
                // asked already. The format of blocks stays what it is.
                self.done(&["format", "--ses=1", "--force"], MOST_TIME)
            }
            EraseWith::AtaSecureErase => self.security_erase(),
        }
    }

    fn security_erase(&self) -> Result<(), String> {
        // It may have been frozen since, by a suspend.
        self.may_take_a_password()?;
        let user = "--user-master=u";
        self.done(&[user, "--security-set-pass", PASSWORD], MOST_ANSWER)?;
        self.done(&[user, "--security-erase", PASSWORD], MOST_TIME).map_err(|why| {
            // A drive that keeps its password is locked after the next power cycle.
            match self.done(&[user, "--security-disable", PASSWORD], MOST_ANSWER) {
                Ok(()) => format!("{why} (its password was taken off again)"),
                Err(still) => format!(
                    "{why}; and its password, {PASSWORD:?}, could not be taken off: {still}. Before it \
                     loses power: hdparm {user} --security-disable {PASSWORD} {}",
                    self.node.display()
                ),
            }
        })
    }

    /// Whether a security erase would be taken: `hdparm -I` says what the drive is in.
    fn may_take_a_password(&self) -> Result<(), String> {
        let said = self.say(&["-I"], MOST_ANSWER)?;
        let security = Security::parse(&said.stdout);
        let node = self.node.display();
        match security {
            None => Err(format!("{node} has no ATA security feature: use --purge discard")),
            Some(it) if it.enabled || it.locked => Err(format!(
                "{node} has a password set already: take it off, or use --purge discard"
            )),
            Some(it) if it.frozen => Err(format!(
                "{node} is frozen, which a BIOS does at start: suspend and wake the machine, or use \
                 --purge discard"
            )),
            Some(_) => Ok(()),
        }
    }

    fn say(&self, options: &[&str], most: Duration) -> Result<Said, String> {
        let options = options.iter().map(OsStr::new);
        let args: Vec<&OsStr> = options.chain([self.node.as_os_str()]).collect();
        tool::run(&self.program, &args, most)
            .map_err(|error| format!("{}: {error}", self.program.display()))
    }

    fn done(&self, options: &[&str], most: Duration) -> Result<(), String> {
        let said = self.say(options, most)?;
        match said.code {
            Some(0) => Ok(()),
            _ => {
                let program = self.program.display();
                Err(format!("{} failed: {program}: {}", self.with, said.complaint()))
            }
        }
    }
}

/// `nvme0` of `nvme0n1`.
fn controller_of(name: &str) -> Option<&str> {
    let (controller, namespace) = name.strip_prefix("nvme")?.split_once('n')?;
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (number(controller) && number(namespace)).then(|| &name[..4 + controller.len()])
}

/// How many namespaces a controller has that are block devices.
fn namespaces(sys: &Path, controller: &str) -> usize {
    let entries = fs::read_dir(sys.join("block")).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| controller_of(name) == Some(controller)).count()
}

/// The section "Security" of `hdparm -I`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Security {
    enabled: bool,
    locked: bool,
    frozen: bool,
}

impl Security {
    /// `None` where the drive does not support it. A line is a word, with `not` before it where it
    /// does not hold.
    fn parse(text: &str) -> Option<Security> {
        let section = text.lines().skip_while(|line| !line.starts_with("Security:")).skip(1);
        let section: Vec<Vec<&str>> = section
            .take_while(|line| line.starts_with(char::is_whitespace))
            .map(|line| line.split_whitespace().collect())
            .collect();
        let says = |wanted: &[&str]| section.iter().any(|words| words[..] == *wanted);
        let holds = |word: &str| !says(&["not", word]);
        says(&["supported"]).then(|| Security {
            enabled: holds("enabled"),
            locked: holds("locked"),
            frozen: holds("frozen"),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// As hdparm prints it.
    const IDENTITY: &str = "\n/dev/sdz:\n\nATA device, with non-removable media\n\
        \tModel Number:       A Drive\nSecurity: \n\tMaster password revision code = 65534\n\
        \t\tsupported\n\tnot\tenabled\n\tnot\tlocked\n\tnot\tfrozen\n\tnot\texpired: security count\n\
        \t\tsupported: enhanced erase\n\t2min for SECURITY ERASE UNIT. 2min for ENHANCED SECURITY \
        ERASE UNIT.\nLogical Unit WWN Device Identifier: 5000000000000000\n";

    #[test]
    fn the_security_section_of_hdparm() {
        let good = Security { enabled: false, locked: false, frozen: false };
        assert_eq!(Security::parse(IDENTITY), Some(good));
        let frozen = IDENTITY.replace("\tnot\tfrozen", "\t\tfrozen");
        assert_eq!(Security::parse(&frozen), Some(Security { frozen: true, ..good }));
        let locked = IDENTITY.replace("\tnot\tlocked", "\t\tlocked");
        assert_eq!(Security::parse(&locked), Some(Security { locked: true, ..good }));
        let without = IDENTITY.replace("\t\tsupported\n", "\tnot\tsupported\n");
        assert_eq!((Security::parse(&without), Security::parse("")), (None, None));
    }

    #[test]
    fn namespaces_are_told_from_controllers_and_partitions() {
        assert_eq!(controller_of("nvme0n1"), Some("nvme0"));
        assert_eq!(controller_of("nvme12n3"), Some("nvme12"));
        for other in ["nvme0", "nvme0n1p2", "nvme0c0n1", "sda", "nvmen1", ""] {
            assert_eq!(controller_of(other), None, "{other}");
        }
    }

    /// A program that writes down how it was called. A shell makes it: a file that this process still
    /// has open for writing while another test forks could not be run.
    fn program(folder: &Path, body: &str) -> PathBuf {
        let (path, log) = (folder.join("program"), folder.join("log"));
        let text = format!("#!/bin/sh\necho \"$@\" >> '{}'\n{body}\n", log.display());
        let made = Command::new("sh")
            .args(["-c", "printf '%s' \"$1\" > \"$2\" && chmod 755 \"$2\"", "sh", &text])
            .arg(&path)
            .status();
        assert!(made.expect("there is a shell").success());
        path
    }

    fn calls(folder: &Path) -> Vec<String> {
        let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
        log.lines().map(str::to_string).collect()
    }

    #[test]
    fn an_nvme_drive_is_formatted_when_it_is_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let sys = folder.path();
        fs::create_dir_all(sys.join("block/nvme7n1")).expect("it can be made");
        let node = Path::new("/dev/nvme7n1");
        let of =
            |node: &Path, program| Erase::checked(EraseWith::NvmeFormat, node, sys, Ok(program));
        let erase = of(node, program(sys, "exit 0")).expect("it is alone");
        erase.run().expect("it does what it is told");
        assert_eq!(calls(sys), ["format --ses=1 --force /dev/nvme7n1"]);
        let fails = program(sys, "echo 'NVMe status: Access Denied' >&2; exit 1");
        let why = of(node, fails.clone()).expect("it is alone").run().expect_err("it fails");
        assert!(
            why.contains("NVMe format") && why.ends_with("NVMe status: Access Denied"),
            "{why}"
        );
        fs::create_dir_all(sys.join("block/nvme7n2")).expect("it can be made");
        let why = of(node, fails.clone()).expect_err("there is another");
        assert!(why.contains("2 namespaces of nvme7"), "{why}");
        let why = of(Path::new("/dev/sda"), fails).expect_err("it is none");
        assert!(why.contains("no NVMe drive"), "{why}");
    }

    #[test]
    fn an_ata_drive_is_erased_unless_it_is_frozen_and_left_without_a_password() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let sys = folder.path();
        let node = Path::new("/dev/sdz");
        let identity = sys.join("identity");
        let of = |body: &str| {
            let says =
                format!("case \"$1\" in -I) cat '{}'; exit 0;; esac\n{body}", identity.display());
            Erase::checked(EraseWith::AtaSecureErase, node, sys, Ok(program(sys, &says)))
        };
        fs::write(&identity, IDENTITY.replace("\tnot\tfrozen", "\t\tfrozen")).expect("it is ours");
        let why = of("exit 0").expect_err("it is frozen");
        assert!(why.contains("suspend and wake"), "{why}");
        fs::write(&identity, "").expect("it is ours");
        assert!(of("exit 0").expect_err("it has none").contains("no ATA security"));
        fs::write(&identity, IDENTITY).expect("it is ours");
        let _ = fs::remove_file(sys.join("log"));
        of("exit 0").expect("it can be").run().expect("it does what it is told");
        let erased = [
            "-I /dev/sdz",
            "-I /dev/sdz",
            "--user-master=u --security-set-pass fourcorners /dev/sdz",
            "--user-master=u --security-erase fourcorners /dev/sdz",
        ];
        assert_eq!(calls(sys), erased);
        let half = "case \"$2\" in --security-erase) echo 'I/O error' >&2; exit 5;; esac; exit 0";
        let why = of(half).expect("it can be").run().expect_err("it fails");
        assert!(why.contains("I/O error") && why.contains("taken off again"), "{why}");
        assert!(calls(sys).last().is_some_and(|call| call.contains("--security-disable")));
        let all = "case \"$2\" in --security-set-pass) exit 0;; esac; exit 5";
        let why = of(all).expect("it can be").run().expect_err("it fails");
        assert!(why.contains("Before it loses power"), "{why}");
    }
}
