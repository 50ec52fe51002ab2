//! The config file: which value counts, who is told of it, and what is wrong in one.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::bench::{HDD, M4, Ran, Started, command, folder, listing};

/// Where the binary looks for its defaults.
#[derive(Default)]
struct Environment<'a> {
    /// `XDG_CONFIG_HOME`; HOME is a folder that is not there.
    xdg: Option<&'a Path>,
    config: Option<&'a str>,
    database: Option<&'a str>,
}

fn run_in(dir: &Path, environment: &Environment<'_>, args: &[&str]) -> Ran {
    let mut run = command(dir, args);
    run.env_remove("FOURCORNERS_CONFIG")
        .env("HOME", "/nobody-s-home")
        .env_remove("XDG_CONFIG_HOME")
        // Other tests store something where all of them do.
        .env("XDG_DATA_HOME", dir.join("data-home"));
    for (name, value) in
        [("FOURCORNERS_CONFIG", environment.config), ("FOURCORNERS_DATABASE", environment.database)]
    {
        if let Some(value) = value {
            run.env(name, value);
        }
    }
    if let Some(folder) = environment.xdg {
        run.env("XDG_CONFIG_HOME", folder);
    }
    Started::of(run.stdout(Stdio::piped()).stderr(Stdio::piped())).finish()
}

/// What `config --json` says of a key: its value, and where that is from.
fn of_key(ran: &Ran, key: &str) -> (Value, String) {
    let document: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let values = document["values"].as_array().expect("values").clone();
    let row = values.into_iter().find(|row| row["key"] == key).expect(key);
    (row["value"].clone(), row["from"].as_str().expect("a word").to_string())
}

/// The methods of a review that is only planned, in the order they are shown.
fn planned(ran: &Ran) -> Vec<&'static str> {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let names = ["four-corners", "toms", "lba-pass", "trim"];
    let mut found: Vec<(usize, &str)> =
        names.iter().filter_map(|name| Some((ran.stdout.find(name)?, *name))).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, name)| name).collect()
}

#[test]
fn the_command_line_counts_more_than_the_environment_and_that_more_than_the_file() {
    let dir = folder();
    let at = dir.path();
    fs::write(at.join("c.toml"), "database = \"of-file.db\"\n").expect("it can be written");
    let list = |environment: &Environment<'_>, args: &[&str]| {
        let ran = run_in(at, environment, &[&["results", "check"], args].concat());
        assert_eq!(ran.code, Some(2), "there is no database: {ran:?}");
        ran.stderr
    };
    let file = Environment { config: Some("c.toml"), ..Environment::default() };
    let both = Environment { database: Some("of-variable.db"), ..file };
    let said = list(&both, &["--db", "typed.db"]);
    assert!(said.contains("typed.db") && !said.contains("of-"), "{said}");
    let said = list(&both, &[]);
    assert!(said.contains("(of-variable.db is from FOURCORNERS_DATABASE)"), "{said}");
    let file = Environment { config: Some("c.toml"), ..Environment::default() };
    let said = list(&file, &[]);
    assert!(
        said.contains("no results in of-file.db") && said.contains("database in c.toml, line 1"),
        "{said}"
    );
    // Control: without the file it is the built-in place, and nothing is said of a file.
    let said = list(&file, &["--no-config"]);
    assert!(said.contains("data-home") && !said.contains("c.toml"), "{said}");
    let said = list(&Environment::default(), &[]);
    assert!(said.contains("data-home"), "{said}");
}

#[test]
fn config_shows_what_counts_and_where_it_is_from() {
    let dir = folder();
    let at = dir.path();
    fs::create_dir_all(at.join("xdg/fourcorners")).expect("it can be made");
    let path = at.join("xdg/fourcorners/config.toml");
    let xdg = at.join("xdg");
    let show = |database| {
        let environment = Environment { xdg: Some(&xdg), database, config: None };
        run_in(at, &environment, &["config", "--json"])
    };
    // Control: the file is looked for and is not there.
    let before = show(None);
    assert!(before.stdout.contains("\"exists\":false"), "{before:?}");
    assert_eq!(of_key(&before, "review.references"), ("catalogue".into(), "built-in".into()));
    let text = "database = \"a.db\"\n[review]\nmethods = [\"toms\", \"trim\"]\n";
    fs::write(&path, text).expect("it can be written");
    let ran = show(None);
    let a = at.join("xdg/fourcorners/a.db").display().to_string();
    assert_eq!(of_key(&ran, "database"), (a.as_str().into(), "file".into()));
    assert_eq!(of_key(&ran, "review.methods").0, serde_json::json!(["toms", "trim"]));
    assert_eq!(of_key(&ran, "results").1, "built-in");
    assert_eq!(
        of_key(&show(Some("e.db")), "database"),
        ("e.db".into(), "FOURCORNERS_DATABASE".into())
    );
    // The table says the same, with the line.
    let environment = Environment { xdg: Some(&xdg), ..Environment::default() };
    let table = run_in(at, &environment, &["config"]).stdout;
    assert!(table.starts_with(&format!("config file: {}\n", path.display())), "{table}");
    let methods = table.lines().find(|line| line.contains("review.methods")).expect("a row");
    assert!(methods.contains("toms, trim") && methods.contains("file, line 3"), "{table}");
    // A path is in one piece, and in its place if there is room for it.
    let long = format!("/{}/results.db", "long".repeat(20));
    for (path, row) in [("/a/r.db", "/a/r.db"), (&long, "(below)")] {
        let variable = Environment { database: Some(path), ..Environment::default() };
        let table = run_in(at, &variable, &["config"]).stdout;
        let database = table.lines().find(|line| line.contains("database")).expect("a row");
        assert!(database.contains(row), "{table}");
        assert!(
            table.contains(path) && (row == path || table.contains(&format!("database:\n{path}"))),
            "{table}"
        );
    }
}

#[test]
fn a_review_that_has_its_methods_from_the_file_says_so_in_a_line() {
    let dir = folder();
    let at = dir.path();
    let text = "results = \"kept\"\n[review]\nmethods = [\"toms\", \"lba-pass\"]\n";
    fs::write(at.join("c.toml"), text).expect("it can be written");
    let file = Environment { config: Some("c.toml"), ..Environment::default() };
    let plan = ["review", M4, "--quick", "--dry-run"];
    let ran = run_in(at, &file, &plan);
    assert_eq!(planned(&ran), ["toms", "lba-pass"]);
    let said: Vec<&str> = ran.stderr.lines().collect();
    assert!(said.len() == 1 && said[0].contains("c.toml: review.methods toms,lba-pass"), "{ran:?}");
    // Controls: what is typed counts, and nothing is said of what does not count; without the file it is the default.
    let typed = run_in(at, &file, &[&plan[..], &["--methods", "trim"]].concat());
    assert!(planned(&typed) == ["trim"] && !typed.stderr.contains("review.methods"), "{typed:?}");
    let without = run_in(at, &file, &[&plan[..], &["--no-config"]].concat());
    assert!(planned(&without) == ["four-corners"] && without.stderr.is_empty(), "{without:?}");
    // A review writes where the file says, and is the one that is typed.
    let review = |more: &[&str]| {
        let args = ["review", HDD, "--quick", "--no-db", "--methods", "lba-pass"];
        let ran = run_in(at, &file, &[&args[..], more].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran
    };
    let ran = review(&[]);
    assert!(ran.stderr.contains("c.toml: results "), "{ran:?}");
    assert_eq!(fs::read_dir(at.join("kept")).expect("it was made").count(), 1);
    assert!(!review(&["--quiet"]).stderr.contains("c.toml"));
    let record = |more: &[&str]| {
        let ran = review(&[&["--json"], more].concat());
        let document = ran.document();
        document.records[0].id.clone()
    };
    assert_eq!(record(&[]), record(&["--no-config"]), "a record is of what was measured");
}

#[test]
fn what_is_wrong_is_one_line_with_place_value_and_what_to_do() {
    let dir = folder();
    let at = dir.path();
    fs::create_dir(at.join("a-folder")).expect("it can be made");
    fs::write(at.join("latin.toml"), b"\n# \xfc\n").expect("it can be written");
    fs::write(at.join("long.toml"), "#".repeat(70_000)).expect("it can be written");
    fs::write(at.join("c.toml"), "\n[review]\nmethod = [\"toms\"]\n").expect("it can be written");
    fs::write(at.join("plan.toml"), "[review]\nmethods = [\"./none.toml\"]\n").expect("it can");
    let before = listing(at);
    for (file, args, told) in [
        (
            "c.toml",
            &["review", M4][..],
            "c.toml, line 3: there is no key \"review.method\"; did you mean review.methods?",
        ),
        ("c.toml", &["drives"], "line 3"),
        ("c.toml", &["config"], "line 3"),
        ("none.toml", &["drives"], "FOURCORNERS_CONFIG: there is no none.toml"),
        ("a-folder", &["drives"], "a-folder: cannot be read: Is a directory"),
        ("latin.toml", &["drives"], "latin.toml, line 2: it is not UTF-8"),
        ("long.toml", &["drives"], "longer than 65536 bytes"),
        ("plan.toml", &["review", M4], "review.methods in plan.toml, line 2"),
        ("c.toml", &["drives", "--config", "gone.toml"], "--config: there is no gone.toml"),
        ("c.toml", &["drives", "--config", "c.toml", "--no-config"], "cannot be used with"),
    ] {
        let file = Environment { config: Some(file), ..Environment::default() };
        let ran = run_in(at, &file, args);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(told), "{args:?}: {ran:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{args:?}: {ran:?}");
    }
    assert_eq!(listing(at), before);
    // Controls: a file that is not there by default is none, and neither is asked for by what needs no defaults.
    let nowhere = Environment { xdg: Some(at), ..Environment::default() };
    assert_eq!(run_in(at, &nowhere, &["drives"]).code, Some(0));
    let wrong = Environment { config: Some("c.toml"), ..Environment::default() };
    assert_eq!(run_in(at, &wrong, &["drives", "--no-config"]).code, Some(0));
    assert_eq!(run_in(at, &wrong, &["completions", "bash"]).code, Some(0));
    assert_eq!(run_in(at, &wrong, &["review", "--help"]).code, Some(0));
}

#[test]
fn a_ranking_of_all_drives_is_stored_nowhere_whatever_the_file_says() {
    let dir = folder();
    let at = dir.path();
    fs::write(at.join("c.toml"), "database = \"c.db\"\n").expect("it can be written");
    let file = Environment { config: Some("c.toml"), ..Environment::default() };
    let all = ["trace", "replay", "task:boot", "all", "--capacity", "-64GB", "--json"];
    let ran = run_in(at, &file, &all);
    assert!(ran.code == Some(0) && !ran.stderr.contains("c.toml"), "{ran:?}");
    // Control: one that is typed is refused, and a replay on a drive is stored.
    assert!(run_in(at, &file, &[&all[..], &["--db", "c.db"]].concat()).stderr.contains("--db"));
    assert!(!at.join("c.db").exists());
    let one = run_in(at, &file, &["trace", "replay", "task:boot", "crucial-m4-64gb", "--json"]);
    assert!(one.code == Some(0) && one.stderr.contains("c.toml: database "), "{one:?}");
    assert!(at.join("c.db").exists());
}

#[test]
fn the_example_of_the_help_is_a_config_file_with_all_keys() {
    let dir = folder();
    let help = run_in(dir.path(), &Environment::default(), &["config", "--help"]).stdout;
    let from = help.find("  database = ").expect("an example");
    let example = help[from..].split("\n\n").next().expect("its end");
    let home = dir.path().join("c.toml");
    fs::write(&home, example).expect("it can be written");
    let file = Environment { config: Some("c.toml"), ..Environment::default() };
    let ran = run_in(dir.path(), &file, &["config", "--json"]);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    for row in document["values"].as_array().expect("values") {
        assert_eq!(row["from"], "file", "{row}");
    }
}

#[test]
fn an_author_is_named_in_the_record_and_on_the_page_and_changes_no_id() {
    let dir = folder();
    let at = dir.path();
    fs::write(at.join("c.toml"), "author = \" Ada Lovelace\"\n").expect("it can be written");
    let environment = Environment { config: Some("c.toml"), ..Environment::default() };
    let review = |out: &str, args: &[&str]| {
        let review = ["review", M4, "--methods", "four-corners", "--quick", "--no-db", "-o", out];
        let ran = run_in(at, &environment, &[&review[..], args].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let read = |file: &str| fs::read_to_string(at.join(out).join(file)).expect("it is there");
        let record: Value = serde_json::from_str(&read("review.json")).expect("JSON");
        (record["records"][0].clone(), read("review.html"), ran.stderr)
    };
    let (of_file, page, said) = review("file", &[]);
    assert_eq!(of_file["author"], "Ada Lovelace");
    assert!(page.contains("Reviewed by Ada Lovelace."), "the page says who");
    assert!(said.contains("author Ada Lovelace"), "{said}");
    let (typed, page, said) = review("typed", &["--author", "Mary <b> Somerville"]);
    assert_eq!(typed["author"], "Mary <b> Somerville");
    assert!(page.contains("Reviewed by Mary &lt;b&gt; Somerville.") && !page.contains("<b> Som"));
    assert!(!said.contains("Ada"), "{said}");
    let (nobody, page, _) = review("nobody", &["--no-config"]);
    assert!(nobody["author"].is_null() && !page.contains("Reviewed by"));
    // Who reviews changes nothing of what was measured, and neither do other eyes on it.
    assert_eq!((&of_file["id"], &typed["id"]), (&nobody["id"], &nobody["id"]));
    let shown = run_in(at, &environment, &["report", "typed", "--json"]);
    assert_eq!(shown.code, Some(0), "it is as it was measured: {shown:?}");

    fs::write(at.join("c.toml"), "\nauthor = \"Ada\\nLovelace\"\n").expect("it can be written");
    let wrong = run_in(at, &environment, &["review", M4, "--dry-run"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("c.toml, line 2: author is no name"), "{}", wrong.stderr);
    let wrong = run_in(at, &environment, &["review", M4, "--no-config", "--author", ""]);
    assert!(wrong.stderr.contains("give a name of 1 to 200 characters"), "{}", wrong.stderr);
}
