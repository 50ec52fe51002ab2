//! A drive's health, read where it can be, and what it came to.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fourcorners_record::note::note;
use fourcorners_record::{Health, HealthReading, Note};
use fourcorners_words::three_digits;

use super::{hwmon, smartctl, tool};
use crate::guard::{Kind, RealTarget};

/// A drive that sleeps takes some seconds to wake.
const MOST_TIME: Duration = Duration::from_secs(60);

/// What a drive says of itself now; `None` of a file, which is not a drive.
pub fn read(target: &RealTarget) -> Option<HealthReading> {
    (target.kind == Kind::Device).then(|| {
        let whole = target.partition_of.as_deref().map(PathBuf::from);
        let node = whole.unwrap_or_else(|| target.canonical.clone());
        read_node(&node, Path::new("/sys"), tool::find("smartctl").as_deref())
    })
}

fn read_node(node: &Path, sys: &Path, program: Option<&Path>) -> HealthReading {
    let (mut reading, why) = match program {
        None => {
            let why = "health: smartctl is not installed (package smartmontools)";
            (HealthReading::default(), Some(why.to_string()))
        }
        Some(program) => match ask(program, node) {
            Ok(reading) => (reading, None),
            Err(why) => (HealthReading::default(), Some(format!("health: {why}"))),
        },
    };
    reading.not_available.extend(why);
    let name = node.file_name().unwrap_or_default();
    let sensor = hwmon::sensor(&sys.join("block").join(name));
    if let Some(sensor) = sensor {
        reading.sources.push("hwmon".into());
        reading.temperature_c = reading.temperature_c.or(sensor.now_c);
        reading.temperature_warning_c = reading.temperature_warning_c.or(sensor.warning_c);
    }
    if reading.temperature_c.is_none() {
        let why =
            "temperature: the kernel has no sensor of the drive (nvme, or the module drivetemp)";
        reading.not_available.push(why.into());
    }
    reading
}

fn ask(program: &Path, node: &Path) -> Result<HealthReading, String> {
    let args = ["--json".as_ref(), "-x".as_ref(), node.as_os_str()];
    let said =
        tool::run(program, &args, MOST_TIME).map_err(|error| format!("smartctl: {error}"))?;
    smartctl::parse(&said.stdout)
}

/// What it came to, in words: health, temperature, and whether it was throttled.
pub fn notes(health: &Health) -> Vec<Note> {
    let Some(after) = &health.after else { return Vec::new() };
    let before = &health.before;
    let mut found = Vec::new();
    found.extend(state(before, after));
    found.extend(warmth(before, after));
    if !after.not_available.is_empty() {
        let text = format!("Not reported by this drive: {}.", after.not_available.join("; "));
        found.push(Note { about: "health-not-available".into(), text, value: None });
    }
    found
}

fn state(before: &HealthReading, after: &HealthReading) -> Option<Note> {
    let mut parts: Vec<String> = Vec::new();
    match after.passed {
        Some(true) => parts.push("it is healthy".into()),
        Some(false) => parts.push("it is FAILING".into()),
        None => {}
    }
    let percent =
        |value: Option<f64>, what: &str| value.map(|value| format!("{value:.0} % {what}"));
    parts.extend(percent(after.endurance_used_percent, "of its endurance is used"));
    parts.extend(percent(after.spare_percent, "of its spare blocks are left"));
    for (what, before, after) in [
        ("media errors", before.media_errors, after.media_errors),
        ("replaced sectors", before.reallocated, after.reallocated),
        ("link errors", before.link_errors, after.link_errors),
    ] {
        let Some(now) = after else { continue };
        match before.and_then(|before| now.checked_sub(before)) {
            Some(more) if more > 0 => parts.push(format!("{now} {what}, {more} MORE than before")),
            _ => parts.push(format!("{now} {what}")),
        }
    }
    let written = after.host_written_bytes.zip(before.host_written_bytes);
    if let Some(bytes) = written.and_then(|(after, before)| after.checked_sub(before)) {
        parts.push(format!(
            "{} GB were written to it during the tests",
            three_digits(bytes as f64 / 1e9)
        ));
    }
    (!parts.is_empty()).then(|| {
        let text = format!("By the drive's own account, {}.", parts.join(", "));
        let value = after.passed.map(|passed| if passed { 1.0 } else { 0.0 });
        Note { about: "health".into(), text, value }
    })
}

/// Temperature, and whether the drive was slowed down by it: what it counted itself above its limits,
/// or how warm it is in the end.
fn warmth(before: &HealthReading, after: &HealthReading) -> Option<Note> {
    let more = |of: fn(&HealthReading) -> Option<u64>| {
        of(after).zip(of(before)).and_then(|(after, before)| after.checked_sub(before))
    };
    let warning = more(|it| it.warning_temperature_minutes);
    let critical = more(|it| it.critical_temperature_minutes);
    let over = more(|it| it.over_temperature_count);
    let hot =
        after.temperature_c.zip(after.temperature_warning_c).filter(|(now, most)| now >= most);
    // Bit 1: a temperature is above its upper or below its lower threshold.
    let warns = after.critical_warning.is_some_and(|bits| bits & 0b10 != 0);
    let mut signs = Vec::new();
    let minutes = |minutes: Option<u64>, what: &str| {
        minutes.filter(|&it| it > 0).map(|it| format!("{it} min above its {what} temperature"))
    };
    signs.extend(minutes(warning, "warning"));
    signs.extend(minutes(critical, "critical"));
    signs.extend(over.filter(|&it| it > 0).map(|it| format!("{it} times above its limit")));
    signs.extend(hot.map(|(now, most)| format!("{now:.0} °C, and it warns from {most:.0} °C on")));
    signs.extend(warns.then(|| "its temperature warning is on".to_string()));
    let now = after.temperature_c?;
    let from = before.temperature_c.map_or_else(String::new, |was| format!("{was:.0} °C before, "));
    let could_tell = warning.is_some() || over.is_some() || after.temperature_warning_c.is_some();
    let (about, word) = if !signs.is_empty() {
        let signs = signs.join(", ");
        ("thermal-throttling", format!("It was too warm ({signs}): the drive may have throttled"))
    } else if could_tell {
        ("temperature", "The drive reports no time above its limits".into())
    } else {
        ("temperature", "Whether it was throttled is not known: it reports no limit".into())
    };
    Some(note(about, format!("{word}; {from}{now:.0} °C after."), now))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    fn reading(temperature_c: f64) -> HealthReading {
        HealthReading {
            sources: vec!["smartctl".into()],
            passed: Some(true),
            temperature_c: Some(temperature_c),
            warning_temperature_minutes: Some(5),
            media_errors: Some(1),
            host_written_bytes: Some(1_000_000_000),
            ..HealthReading::default()
        }
    }

    fn text(before: HealthReading, after: HealthReading, about: &str) -> Option<String> {
        let found = notes(&Health { before, after: Some(after), heat: None });
        found.into_iter().find(|it| it.about == about).map(|it| it.text)
    }

    #[test]
    fn a_drive_that_got_too_warm_is_told_from_one_that_did_not() {
        let (cool, warm) = (reading(30.0), reading(60.0));
        let told = text(cool.clone(), warm.clone(), "temperature").expect("it was measured");
        assert!(
            told.contains("no time above") && told.ends_with("30 °C before, 60 °C after."),
            "{told}"
        );
        for throttled in [
            HealthReading { warning_temperature_minutes: Some(7), ..warm.clone() },
            HealthReading { temperature_warning_c: Some(60.0), ..warm.clone() },
            HealthReading { critical_warning: Some(0b10), ..warm.clone() },
        ] {
            let told = text(cool.clone(), throttled.clone(), "thermal-throttling");
            assert!(told.is_some_and(|told| told.contains("too warm")), "{throttled:?}");
        }
        let silent = HealthReading { warning_temperature_minutes: None, ..warm };
        let told = text(silent.clone(), silent, "temperature").expect("it was measured");
        assert!(told.contains("is not known"), "{told}");
    }

    #[test]
    fn health_says_what_changed() {
        let after = HealthReading {
            media_errors: Some(3),
            host_written_bytes: Some(6_000_000_000),
            passed: Some(false),
            ..reading(30.0)
        };
        let told = text(reading(30.0), after, "health").expect("it says so");
        assert!(told.contains("FAILING") && told.contains("3 media errors, 2 MORE"), "{told}");
        assert!(told.contains("5.00 GB were written"), "{told}");
        // Counters that went back, as of a drive that was replaced, are no difference.
        let back = HealthReading { host_written_bytes: Some(0), ..reading(30.0) };
        assert!(!text(reading(30.0), back, "health").expect("it says so").contains("GB"));
        assert!(notes(&Health { before: reading(1.0), after: None, heat: None }).is_empty());
    }

    #[test]
    fn a_tool_that_is_not_there_or_fails_leaves_what_the_kernel_says() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (sys, node) = (folder.path(), Path::new("/dev/sdz"));
        let none = read_node(node, sys, None);
        assert_eq!(none.not_available.len(), 2, "{none:?}");
        assert!(none.not_available[0].contains("smartmontools"), "{none:?}");
        let sensor = sys.join("block/sdz/device/hwmon/hwmon0");
        fs::create_dir_all(&sensor).expect("it can be made");
        fs::write(sensor.join("temp1_input"), "33000").expect("it can be written");
        let program = folder.path().join("smartctl");
        // A shell makes it: a file that this process has open while another test forks cannot be run.
        let made = Command::new("sh")
            .args([
                "-c",
                "printf '#!/bin/sh\necho nonsense\nexit 1\n' > \"$1\" && chmod 755 \"$1\"",
                "sh",
            ])
            .arg(&program)
            .status();
        assert!(made.expect("there is a shell").success());
        let found = read_node(node, sys, Some(&program));
        assert_eq!(
            (found.temperature_c, &found.sources[..]),
            (Some(33.0), &["hwmon".to_string()][..])
        );
        assert!(found.not_available[0].contains("did not print JSON"), "{found:?}");
    }
}
