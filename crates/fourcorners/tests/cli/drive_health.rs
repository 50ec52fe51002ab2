//! What a drive says of itself, by tools that are made up: there is no such drive on a test machine.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::bench::{M4, Ran, Started, command, folder, refused};
use crate::media::{Loop, MIB};

/// Answers once as before the review and then as after it.
const SMARTCTL: &str = r#"#!/bin/sh
[ "$1 $2" = "--json -x" ] || exit 1
minutes=5; [ -e "$0.asked" ] && minutes=8
: > "$0.asked"
cat <<END
{"smartctl":{"version":[7,4],"exit_status":0},"smart_status":{"passed":true},
 "nvme_smart_health_information_log":{"critical_warning":0,"temperature":71,"available_spare":99,
  "percentage_used":2,"data_units_written":2000,"media_errors":0,"warning_temp_time":$minutes,
  "critical_comp_time":0},"temperature":{"current":71},"power_on_time":{"hours":5}}
END
"#;

/// A program of this name in `folder`. A shell makes it: a file that this process has open for writing
/// while another test forks cannot be run.
fn program(folder: &Path, name: &str, text: &str) {
    let made = Command::new("sh")
        .args(["-c", "printf '%s' \"$1\" > \"$2\" && chmod 755 \"$2\"", "sh", text])
        .arg(folder.join(name))
        .status();
    assert!(made.expect("there is a shell").success());
}

fn with_tools(dir: &Path, tools: &Path, args: &[&str]) -> Ran {
    let path = format!("{}:/usr/bin:/bin", tools.display());
    Started::of(command(dir, args).env("PATH", path).stdout(Stdio::piped()).stderr(Stdio::piped()))
        .finish()
}

#[test]
fn a_drive_says_how_it_is_before_and_after() {
    let Some(device) = Loop::blank(64 * MIB) else { return };
    let (dir, tools) = (folder(), folder());
    let node = device.node.as_str();
    let args =
        ["review", node, "--destroy", node, "--methods", "trim-reaches", "--quick", "--json"];
    let about = |ran: &Ran, about: &str| {
        let record = &ran.document().records[0];
        record.notes.iter().find(|it| it.about == about).map(|it| it.text.clone())
    };
    let ran = with_tools(dir.path(), tools.path(), &args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let told = about(&ran, "health-not-available").expect("a loop device has no health");
    // Where smartctl is installed it says itself that a loop device is no drive.
    assert!(told.contains("smartctl") && told.contains("no sensor of the drive"), "{told}");

    program(tools.path(), "smartctl", SMARTCTL);
    let ran = with_tools(dir.path(), tools.path(), &args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let health = ran.document().records[0].health.clone().expect("it was asked");
    let after = health.after.expect("twice");
    assert_eq!(health.before.warning_temperature_minutes, Some(5));
    assert_eq!((after.warning_temperature_minutes, after.temperature_c), (Some(8), Some(71.0)));
    assert_eq!(after.host_written_bytes, Some(1_024_000_000));
    let told = about(&ran, "thermal-throttling").expect("it was too warm");
    assert!(told.contains("3 min above its warning temperature"), "{told}");
    assert!(about(&ran, "health").is_some_and(|told| told.contains("2 % of its endurance")));

    program(tools.path(), "smartctl", "#!/bin/sh\nkill -9 $$\n");
    let ran = with_tools(dir.path(), tools.path(), &args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let told = about(&ran, "health-not-available").expect("it said nothing");
    assert!(told.contains("did not print JSON"), "{told}");
}

#[test]
fn an_erasing_command_is_for_the_drives_that_have_it() {
    let dir = folder();
    for how in ["nvme-format", "ata-secure-erase"] {
        let line = refused(dir.path(), &["review", M4, "--purge", how]);
        assert!(line.contains("is not a real drive: leave --purge out"), "{line}");
        let args = ["review", "./f.img", "--size", "64M", "--purge", how];
        assert!(refused(dir.path(), &args).contains("leave --purge out"));
    }
    let line = refused(dir.path(), &["review", M4, "--purge", "hammer"]);
    assert!(line.contains("nvme-format"), "{line}");
    assert!(!dir.path().join("f.img").exists());
    let Some(device) = Loop::blank(64 * MIB) else { return };
    let node = device.node.as_str();
    for (how, told) in
        [("nvme-format", "is no NVMe drive"), ("ata-secure-erase", "is no ATA drive")]
    {
        let args = ["review", node, "--destroy", node, "--purge", how, "--quick"];
        assert!(refused(dir.path(), &args).contains(told), "{how}");
        // The guard comes first.
        let unnamed = refused(dir.path(), &["review", node, "--purge", how, "--quick"]);
        assert!(unnamed.contains("--destroy"), "{unnamed}");
    }
}
