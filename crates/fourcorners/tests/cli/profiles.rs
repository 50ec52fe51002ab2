//! Drives that users bring: `./mine.toml`.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use fourcorners_record::Ended;

use crate::bench::{M4, folder, obeys_the_laws, refused, run};

/// The m4 as a file of its own, which is what a user's profile begins with.
static M4_TOML: LazyLock<String> = LazyLock::new(|| {
    let dir = folder();
    let ran = run(dir.path(), &["drives", M4, "--toml"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    ran.stdout
});

/// The same under another name and without what it draws.
fn without_power(name: &str) -> String {
    let mine = M4_TOML.replace("name = \"crucial-m4-256gb\"", &format!("name = \"{name}\""));
    let (before, power) = mine.split_once("[power]\n").expect("the m4 has its power");
    let (_, after) = power.split_once("\n[").expect("it is not the last section");
    format!("{before}[{after}")
}

fn write(dir: &Path, name: &str, content: impl AsRef<[u8]>) {
    fs::write(dir.join(name), content).expect("it can be written");
}

#[test]
fn a_profile_of_ones_own_is_reviewed_beside_the_one_it_was_made_from() {
    let dir = folder();
    let mine = M4_TOML.replace("name = \"crucial-m4-256gb\"", "name = \"mine\"");
    write(dir.path(), "mine.toml", mine);
    let ran = run(dir.path(), &["review", "./mine.toml", M4, "--quick", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let records = ran.document().records;
    assert_eq!((records[0].target.name.as_str(), records[1].target.name.as_str()), ("mine", M4));
    let figures = |n: usize| &records[n].figures["random_read_4k_qd3"].latency_us;
    assert_eq!(figures(0), figures(1), "it is the same drive under another name");
    // Also without the "./", which everybody forgets, and by `drives`.
    let ran = run(dir.path(), &["drives", "mine.toml"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

#[test]
fn a_drive_that_says_what_it_draws_is_measured_for_it_and_is_otherwise_the_same() {
    let dir = folder();
    write(dir.path(), "silent.toml", without_power("silent"));
    let mut mine = without_power("mine") + "\n[power]\n";
    for (key, value) in [
        ("idle_w", 0.5),
        ("active_w", 1.0),
        ("read_uj", 4.0),
        ("program_uj", 130.0),
        ("erase_uj", 300.0),
        ("transfer_nj_per_byte", 0.2),
        ("link_pj_per_bit", 30.0),
    ] {
        mine +=
            &format!("{key} = {{ value = {value:.1}, standing = \"set\", source = \"model\" }}\n");
    }
    write(dir.path(), "mine.toml", mine);
    let ran = run(dir.path(), &["review", "./mine.toml", "./silent.toml", "--quick", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let records = ran.document().records;
    let (mine, silent) = (&records[0], &records[1]);
    obeys_the_laws(mine);
    for (name, figure) in &mine.figures {
        assert_eq!(figure.latency_bins_ns, silent.figures[name].latency_bins_ns, "{name}");
        assert_eq!(silent.figures[name].mean_power_w, None, "{name}");
        let watts = figure.mean_power_w.unwrap_or_else(|| panic!("{name}"));
        // Each 4 KiB read costs at most a page read and moved and the data over the link.
        let data = 4096.0 * 8.0 * 30e-12;
        if name == "random_read_4k_qd3" {
            let most = 1.0 + figure.iops * (4e-6 + 8192.0 * 0.2e-9 + data);
            assert!(watts > 0.5 && watts <= most, "{name}: {watts} W of {most}");
        }
        // A page of 8 KiB that is programmed holds two of what is written.
        if name == "random_write_4k_qd3_incompressible" {
            let least = 0.5 + figure.iops * (65e-6 + 4096.0 * 0.2e-9 + data);
            assert!(watts > least && watts < least * 1.5, "{name}: {watts} W, {least}");
        }
    }
    let ran = run(dir.path(), &["review", "mine.toml", "--quick", "--set", "power.active_w=0.2"]);
    assert!(ran.stderr.contains("power.active_w = 0.2 is not possible: it must be 0.5 to 1000"));
}

#[test]
fn a_copy_under_the_same_name_is_refused_with_what_to_change() {
    let dir = folder();
    write(dir.path(), "copy.toml", M4_TOML.as_str());
    let line = refused(dir.path(), &["review", M4, "./copy.toml", "--quick"]);
    assert!(line.contains("copy.toml is a second drive called crucial-m4-256gb"), "{line}");
}

#[test]
fn what_is_no_profile_is_refused() {
    let dir = folder();
    let without = |part: &str| {
        assert!(M4_TOML.contains(part), "{part}");
        M4_TOML.replacen(part, "", 1)
    };
    let with = |old: &str, new: &str| {
        assert!(M4_TOML.contains(old), "{old}");
        M4_TOML.replacen(old, new, 1)
    };
    for (content, told) in [
        (String::new(), "name is missing"),
        ("this is not TOML".into(), "line 1"),
        ("[[[".into(), "line 1"),
        ("x = [".repeat(1000), "line 1"),
        (format!("x = {}", "[".repeat(100_000)), "line 1"),
        (format!("x = {}", "{a=".repeat(100_000)), "line 1"),
        (without("kind = \"ssd\""), "kind is missing"),
        (with("kind = \"ssd\"", "kind = \"hdd\""), "mine.toml"),
        (with("kind = \"ssd\"", "kind = \"tape\""), "\"ssd\" or \"hdd\""),
        (with("kind = \"ssd\"", "kind = 3"), "must be a text"),
        (with("\ndies = ", "\ndiez = "), "dies"),
        (with("name = \"crucial-m4-256gb\"", "name = \"\""), "printable"),
        (with("name = \"crucial-m4-256gb\"", r#"name = "a\u001b[2Jb""#), "printable"),
        (with("[sources]", "[cites]"), "sources"),
        ("a".repeat(2 << 20), "too long"),
        ("[variant.a]\n[variant.b]\n".into(), "a, b: these are several drives"),
        (with("name = \"crucial-m4-256gb\"\n", "[published]\nnames = 3\n"), "published"),
    ] {
        write(dir.path(), "mine.toml", content);
        for command in ["review", "drives"] {
            let line = refused(dir.path(), &[command, "./mine.toml"]);
            assert!(line.contains("mine.toml: ") && line.contains(told), "{told}: {line}");
        }
    }
}

#[test]
fn what_is_no_text_is_refused() {
    let dir = folder();
    // Any bytes that are not UTF-8; a fixed multiplier makes the same ones every time.
    let garbage: Vec<u8> =
        (0..4000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    write(dir.path(), "garbage.toml", garbage);
    fs::create_dir(dir.path().join("folder.toml")).expect("it can be made");
    std::os::unix::fs::symlink("/dev/zero", dir.path().join("endless.toml")).expect("a link");
    std::os::unix::fs::symlink("loop.toml", dir.path().join("loop.toml")).expect("a link");
    let pipe = dir.path().join("pipe.toml");
    // Reading one that nobody writes would wait for ever.
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    let pipe = made.is_ok_and(|status| status.success()).then_some("./pipe.toml");
    let names = ["./garbage.toml", "./folder.toml", "./endless.toml", "./loop.toml", "./none.toml"];
    for name in names.into_iter().chain(pipe) {
        for command in ["review", "drives"] {
            let line = refused(dir.path(), &[command, name]);
            assert!(line.contains(name), "{line}");
        }
    }
}

#[test]
fn a_section_with_a_dot_in_its_name_is_no_trap_for_set() {
    let dir = folder();
    let section = "\n[\"a.b\"]\nc = { value = 1, standing = \"stated\", source = \"x\" }\n";
    write(dir.path(), "mine.toml", format!("{}{section}", *M4_TOML));
    refused(dir.path(), &["review", "./mine.toml", "--set", "a.b.c=1"]);
}

/// Sections that a drive need not have are read, printed, set and checked like the others.
#[test]
fn optional_sections_of_the_nand_are_parameters_like_any() {
    let dir = folder();
    let sections = r#"
[nand_cells]
kind = { value = "mlc", standing = "datasheet", source = "micron-l74a" }
order = { value = "shadow", standing = "inferred", source = "model" }
pages_per_level = { value = 2, standing = "inferred", source = "model" }
upper_program_ratio = { value = 2.7, standing = "inferred", source = "model" }

[nand_suspend]
erase_suspend_us = { value = 100.0, standing = "inferred", source = "model" }
resume_us = { value = 20.0, standing = "inferred", source = "model" }
most_suspensions = { value = 8, standing = "inferred", source = "model" }
"#;
    let mine = M4_TOML.replace("name = \"crucial-m4-256gb\"", "name = \"mine\"") + sections;
    write(dir.path(), "mine.toml", mine);
    let ran = run(dir.path(), &["drives", "mine.toml"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for key in ["upper_program_ratio", "most_suspensions"] {
        assert!(ran.stdout.contains(key), "{key}: {}", ran.stdout);
    }
    let set = ["review", "./mine.toml", "--quick", "--set", "nand_suspend.most_suspensions=0"];
    let line = refused(dir.path(), &set);
    assert!(line.contains("nand_suspend.most_suspensions = 0 is not possible"), "{line}");
    let set = ["review", "./mine.toml", "--quick", "--json", "--set", "nand_cells.kind=slc"];
    let line = refused(dir.path(), &set);
    assert!(line.contains("nand_cells.upper_program_ratio = 2.7 is not possible"), "{line}");
}

/// A small m4 whose blocks bear four cycles: the purges and fills of a quick review wear it out.
#[test]
fn a_drive_that_wears_out_fails_with_what_was_measured_before() {
    let dir = folder();
    let small = M4_TOML
        .replace("name = \"crucial-m4-256gb\"", "name = \"mine\"")
        .replace("sectors = { value = 500118192", "sectors = { value = 3000000")
        .replace("blocks_per_plane = { value = 2048", "blocks_per_plane = { value = 16");
    let value =
        |text: &str| format!("{{ value = {text}, standing = \"fitted\", source = \"model\" }}");
    let keys = [
        ("endurance_cycles", "4"),
        ("endurance_sigma_percent", "0.0"),
        ("seed", "1"),
        ("levelling", "\"static\""),
        ("threshold_cycles", "10"),
        ("interval_blocks", "10"),
    ];
    let keys: String =
        keys.iter().map(|(key, text)| format!("{key} = {}\n", value(text))).collect();
    write(dir.path(), "mine.toml", format!("{small}\n[wear]\n{keys}"));

    let ran = run(dir.path(), &["review", "./mine.toml", "--quick", "--json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let told = "the drive is worn out and read-only; the 6 figures measured before are kept";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    let record = &ran.document().records[0];
    assert!(matches!(&record.ended, Ended::Failed(why) if why.contains("worn out")));
    let used: Vec<f64> = record
        .figures
        .values()
        .map(|figure| figure.wear.expect("its flash wears out").endurance_used)
        .collect();
    assert!(used.is_sorted() && used[0] > 0.0 && used[5] > 0.75, "{used:?}");

    // One that lasts is the same drive, and says how worn it is; one without the section does not.
    let lasts = ["--set", "wear.endurance_cycles=3000", "--set", "wear.levelling=none"];
    let args = ["review", "./mine.toml", "--quick", "--json"].into_iter().chain(lasts);
    let ran = run(dir.path(), &args.collect::<Vec<_>>());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("\"wear\":{\"erases_min\":"), "{}", ran.stdout);
    write(dir.path(), "mine.toml", small);
    let ran = run(dir.path(), &["review", "./mine.toml", "--quick", "--json"]);
    assert!(!ran.stdout.contains("\"wear\""), "{}", ran.stdout);
    let line = refused(dir.path(), &["review", "./mine.toml", "--set", "wear.seed=1"]);
    assert!(line.contains("this drive has no section wear; to give it one, set wear."), "{line}");
}
