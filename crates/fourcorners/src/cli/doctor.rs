//! `fourcorners doctor`: what this machine and a target can and cannot measure; and which drives there are.

use std::io::{Write, stdout};
use std::path::Path;

use comfy_table::{ContentArrangement, LineStyle, Table, presets};
use fourcorners_catalogue as catalogue;
use fourcorners_lab::host_cost::HostCost;
use fourcorners_lab::review::QUICK_SPAN_BYTES;
use fourcorners_linux::doctor::{Finding, Roots, Verdict, machine, target};
use fourcorners_linux::guard::{DriveStanding, MachineDrive, machine_drives};
use fourcorners_machine::save::write_atomically;
use fourcorners_run::Unobserved;
use fourcorners_words::shell_word;
use serde_json::{Value, json};

use super::args::DoctorArgs;
use super::outcome::{End, Failure};
use super::print;
use super::targets::typed_profile;
use super::terminal::{columns, paragraph};

/// Looks, and tells. What limits a measurement is no failure; what prevents all of them is one.
pub(super) fn run(args: &DoctorArgs) -> Result<End, Failure> {
    let roots = Roots::real();
    let on_target = args
        .path
        .as_deref()
        .map(|path| target(&roots, path).map_err(|why| of_no_device(path, why)))
        .transpose()
        .map_err(Failure::Usage)?;
    let host = match (&args.path, &args.host_profile) {
        (Some(path), Some(output)) => Some(measured_host(path, output)?),
        _ => None,
    };
    let on_machine = machine(&roots);
    // With a target, the others are not asked about.
    let drives = args.path.is_none().then(machine_drives);
    let findings = || on_machine.iter().chain(on_target.iter().flatten());
    let end = match findings().any(|finding| finding.verdict == Verdict::Prevents) {
        true => End::Incomplete,
        false => End::Done,
    };
    let mut out = stdout().lock();
    if args.json {
        let mut document = json!({
            "schema": "fourcorners.doctor/1",
            "machine": on_machine,
            "target": on_target,
        });
        if let Some(Ok(drives)) = &drives {
            document["drives"] = drives.iter().map(drive_json).collect();
        }
        if let Some(HostCost { command_us, process_us, reads_per_second }) = host {
            document["host"] = json!({
                "command_us": command_us, "process_us": process_us, "reads_per_second": reads_per_second,
            });
        }
        print::done(writeln!(out, "{document:#}"))?;
        return Ok(end);
    }
    let mut text = table(findings()).to_string();
    if let (Some(host), Some(output)) = (host, &args.host_profile) {
        text += &format!("\n\n{}", host_text(&host, output));
    }
    if let Some(drives) = drives {
        text += &format!("\n\n{}", drives_text(drives));
    }
    print::done(writeln!(out, "{text}"))?;
    Ok(end)
}

/// What an I/O costs this machine, measured with reads of `path`, in a new file.
fn measured_host(path: &Path, output: &Path) -> Result<HostCost, Failure> {
    let shown = output.display();
    let name = output.file_name().and_then(|name| name.to_str()?.strip_suffix(".toml"));
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        let why =
            format!("--host-profile {shown}: give a name that ends in .toml, as --host needs it");
        return Err(Failure::Usage(why));
    };
    if output.symlink_metadata().is_ok() {
        let why = format!("--host-profile {shown}: it exists; name another file");
        return Err(Failure::Usage(why));
    }
    let cost = HostCost::measure(path, &mut Unobserved).map_err(Failure::Usage)?;
    let text = cost.to_toml(name, &path.display().to_string());
    write_atomically(output, text.as_bytes())
        .map_err(|error| anyhow::anyhow!("cannot write {shown}: {error}"))?;
    Ok(cost)
}

fn host_text(host: &HostCost, output: &Path) -> String {
    let HostCost { command_us, process_us, .. } = host;
    let thousands = host.process_limit() / 1000.0;
    paragraph(&format!(
        "A read takes {command_us:.1} us of a processor by itself, and {process_us:.1} us with 32 at a time: one process \
         reaches about {thousands:.0} k a second in this way, however fast the drive. `fourcorners review DRIVE --host {}` has a virtual \
         drive behind this host.",
        shell_word(&typed_profile(output).display().to_string())
    ))
}

/// Why a path cannot be looked at. A drive of the catalogue is no path, and needs no check.
fn of_no_device(path: &Path, why: String) -> String {
    let name = path.to_str().filter(|name| catalogue::built_in(name, &[]).is_ok());
    match name.filter(|_| path.symlink_metadata().is_err()) {
        Some(name) => format!(
            "{name} is a virtual drive, which any machine can measure; `fourcorners drives {name}` says what it is"
        ),
        None => why,
    }
}

/// What there is to measure, and how to begin: the answer to a command line that names no command.
pub(super) fn drives() -> Result<End, Failure> {
    let text = drives_text(machine_drives());
    print::done(writeln!(
        stdout().lock(),
        "{text}\n\n\
         fourcorners quick ./                      the folder you are in, in a minute\n\
         fourcorners quick crucial-m4-256gb        a virtual drive; fourcorners drives lists them\n\
         fourcorners doctor                        what this machine can measure\n\
         fourcorners --help                        all commands"
    ))?;
    Ok(End::Done)
}

fn drives_text(drives: Result<Vec<MachineDrive>, String>) -> String {
    match drives {
        Err(why) => format!("The drives of this machine are not known: {why}"),
        Ok(drives) if drives.is_empty() => {
            "This machine shows no drives, as in a container: a folder can be measured.".into()
        }
        Ok(drives) => drives.iter().map(drive_text).collect::<Vec<_>>().join("\n"),
    }
}

/// A drive in a few lines, the last of them to be typed.
fn drive_text(drive: &MachineDrive) -> String {
    let mut facts: Vec<String> = Vec::new();
    facts.extend(drive.model.clone());
    facts.extend(drive.serial.as_ref().map(|serial| format!("serial {serial}")));
    facts.push(fourcorners_words::size(drive.bytes));
    facts.extend(drive.rotational.filter(|&turns| turns).map(|_| "rotational".into()));
    facts.extend(drive.backing.as_ref().map(|backing| format!("over {backing}")));
    let mut text = format!("{}  {}\n", drive.path, facts.join(", "));
    for usage in uses(drive) {
        text += &format!("    {usage}\n");
    }
    let lines: Vec<String> = to_type(drive).iter().map(beside).collect();
    text + &format!("    {}", lines.join("\n    "))
}

fn uses(drive: &MachineDrive) -> Vec<String> {
    match &drive.standing {
        _ if !drive.uses.is_empty() => drive.uses.clone(),
        DriveStanding::Free => vec!["not in use".into()],
        DriveStanding::Holds(what) => vec![format!("not in use; it {what}")],
        DriveStanding::InUse => vec!["in use by another program".into()],
        DriveStanding::Refused(why) => vec![why.clone()],
    }
}

/// What measures it, and what that does to it: a folder on it where there is one, reads of it, and writes where those are
/// allowed.
fn to_type(drive: &MachineDrive) -> Vec<(String, String)> {
    let path = &shell_word(&drive.path);
    let in_it = drive.directories.first().map(|place| {
        let size = fourcorners_words::size(QUICK_SPAN_BYTES);
        let effect = format!("writes a scratch file of {size} and removes it");
        (format!("fourcorners quick {}", shell_word(&place.display().to_string())), effect)
    });
    let reads = match &drive.standing {
        DriveStanding::Refused(_) => None,
        // What may not be opened is not proposed.
        _ if std::fs::File::open(&drive.path).is_err() => None,
        _ => Some((format!("fourcorners quick {path}"), "reads only".into())),
    };
    let writes = match &drive.standing {
        DriveStanding::Free => {
            Some((format!("fourcorners quick {path} --destroy {path}"), ALL_IS_LOST.into()))
        }
        _ => None,
    };
    let lines: Vec<(String, String)> = in_it.into_iter().chain(reads).chain(writes).collect();
    match lines.is_empty() {
        true => vec![(format!("fourcorners doctor {path}"), "says why".into())],
        false => lines,
    }
}

const ALL_IS_LOST: &str = "ALL ITS DATA IS LOST";

/// A command and its effect, in a line.
fn beside((command, effect): &(String, String)) -> String {
    format!("{command}        {effect}")
}

fn drive_json(drive: &MachineDrive) -> Value {
    let standing = match &drive.standing {
        DriveStanding::Free => "free",
        DriveStanding::Holds(_) => "holds data",
        DriveStanding::InUse => "in use",
        DriveStanding::Refused(_) => "refused",
    };
    // The command alone, but for what nobody may type without having read it.
    let to_type: Vec<String> = to_type(drive)
        .into_iter()
        .map(|line| if line.1 == ALL_IS_LOST { beside(&line) } else { line.0 })
        .collect();
    json!({
        "path": drive.path, "model": drive.model, "serial": drive.serial, "bytes": drive.bytes,
        "rotational": drive.rotational, "backing": drive.backing, "standing": standing,
        "uses": uses(drive), "directories": drive.directories, "to_type": to_type,
    })
}

fn table<'a>(findings: impl Iterator<Item = &'a Finding>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.style_mut().header_separator = LineStyle::none().fill('─').junction('─');
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns());
    table.set_header(["", "", "found", "what it means"]);
    for finding in findings {
        let sign = match finding.verdict {
            Verdict::Fine => "ok",
            Verdict::Limits => "!",
            Verdict::Prevents => "no",
            Verdict::NotKnown => "?",
        };
        table.add_row([sign, finding.what, finding.found.as_str(), finding.means.as_str()]);
    }
    table
}
