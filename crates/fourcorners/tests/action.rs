//! `action.yml`, the GitHub action: its scripts, run as a runner does, with the program of today and a `gh` that writes down what it
//! is asked for.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use yaml_rust2::{Yaml, YamlLoader};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn action() -> Yaml {
    let text = fs::read_to_string(root().join("action.yml")).expect("a file in UTF-8");
    YamlLoader::load_from_str(&text).expect("YAML").remove(0)
}

fn steps(action: &Yaml) -> Vec<Yaml> {
    action["runs"]["steps"].as_vec().expect("steps").clone()
}

fn text(yaml: &Yaml) -> String {
    yaml.as_str().unwrap_or_else(|| panic!("no text: {yaml:?}")).to_string()
}

/// A runner's folder for temporary files, its files that steps write into, and a PATH with `fourcorners` and `gh`.
struct Runner {
    dir: TempDir,
}

impl Runner {
    fn new() -> Runner {
        let dir = tempfile::tempdir().expect("a folder");
        let at = dir.path();
        for folder in ["bin", "work", "temp"] {
            fs::create_dir(at.join(folder)).expect("it can be made");
        }
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fourcorners"), at.join("bin/fourcorners"))
            .expect("it can be linked");
        let gh = "#!/bin/sh\nprintf '%s\\n' \"$@\" >> \"$RUNNER_TEMP/asked\"\n\
                  case \"$*\" in *--jq*) cat \"$RUNNER_TEMP/earlier\" 2>/dev/null ;; esac\nexit 0\n";
        fs::write(at.join("bin/gh"), gh).expect("it can be written");
        fs::set_permissions(at.join("bin/gh"), fs::Permissions::from_mode(0o755)).expect("ours");
        Runner { dir }
    }

    fn temp(&self, name: &str) -> PathBuf {
        self.dir.path().join("temp").join(name)
    }

    fn written(&self, name: &str) -> String {
        fs::read_to_string(self.temp(name)).unwrap_or_default()
    }

    /// Runs the script of a step; `given` are the values of the expressions in its `env`.
    fn run(&self, step: &Yaml, given: &[(&str, &str)]) -> Output {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut bash = Command::new("bash");
        // As a runner does: GitHub's documentation of `shell: bash`.
        bash.args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", &text(&step["run"])])
            .current_dir(self.dir.path().join("work"))
            .env("PATH", format!("{}:{path}", self.dir.path().join("bin").display()))
            .env("RUNNER_TEMP", self.dir.path().join("temp"))
            .env("GITHUB_OUTPUT", self.temp("output"))
            .env("GITHUB_STEP_SUMMARY", self.temp("summary"))
            .env("GITHUB_REPOSITORY", "somebody/something");
        let given: BTreeMap<&str, &str> = given.iter().copied().collect();
        for (name, value) in step["env"].as_hash().expect("an environment") {
            let (name, value) = (text(name), text(value));
            let expression = value.strip_prefix("${{ ").and_then(|rest| rest.strip_suffix(" }}"));
            let value = match expression {
                Some(expression) => {
                    *given.get(expression).unwrap_or_else(|| panic!("{expression}"))
                }
                None => &value,
            };
            bash.env(name, value);
        }
        bash.output().expect("there is bash")
    }
}

fn step_named(name: &str) -> Yaml {
    let found = steps(&action()).into_iter().find(|step| step["name"].as_str() == Some(name));
    found.unwrap_or_else(|| panic!("there is no step {name}"))
}

#[test]
fn scripts_take_what_a_caller_gives_from_the_environment_and_no_other_action_is_used() {
    let action = action();
    assert_eq!(action["runs"]["using"].as_str(), Some("composite"));
    let inputs = action["inputs"].as_hash().expect("inputs");
    for step in steps(&action) {
        assert!(step["uses"].is_badvalue(), "{step:?}");
        assert_eq!(step["shell"].as_str(), Some("bash"));
        assert!(!text(&step["run"]).contains("${{"), "a value in the text of a script: {step:?}");
        for value in step["env"].as_hash().expect("an environment").values() {
            if let Some(input) = value.as_str().and_then(|value| value.split("inputs.").nth(1)) {
                let name = input.split(' ').next().unwrap_or_default();
                assert!(inputs.contains_key(&Yaml::String(name.into())), "no input {name}");
            }
        }
    }
    let document = fs::read_to_string(root().join("docs/ACTION.md")).expect("a document");
    for (name, input) in inputs {
        let name = text(name);
        assert!(document.contains(&format!("| `{name}` |")), "docs/ACTION.md has no {name}");
        assert!(input["default"].as_str().is_some(), "{name} has no default");
    }
    let workflow = document.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
    let workflow =
        YamlLoader::load_from_str(workflow.expect("a workflow")).expect("YAML").remove(0);
    let with = workflow["jobs"]["review"]["steps"][0]["with"].as_hash().expect("inputs").clone();
    assert!(with.keys().all(|name| inputs.contains_key(name)), "{with:?}");
}

#[test]
fn a_review_of_a_virtual_drive_and_of_a_scratch_file_makes_tables_and_leaves_no_file() {
    let review = step_named("Review");
    for (target, size) in [("crucial-m4-64gb", "2G"), ("./scratch.img", "64M")] {
        let runner = Runner::new();
        let given =
            [("inputs.target", target), ("inputs.size", size), ("inputs.methods", "lba-pass")];
        let ran = runner.run(&review, &given);
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{target}: {said}");
        let markdown = runner.written("fourcorners-review.md");
        assert!(markdown.contains("\n|---") || markdown.contains("\n| ---"), "{markdown}");
        assert_eq!(runner.written("summary"), markdown);
        let output = runner.written("output");
        for line in output.lines() {
            let (name, path) = line.split_once('=').expect("an output");
            assert!(["markdown", "results"].contains(&name) && Path::new(path).exists(), "{line}");
        }
        assert_eq!(output.lines().count(), 2);
        assert!(runner.temp("fourcorners-review/review.json").exists());
        let left = fs::read_dir(runner.dir.path().join("work")).expect("a folder").count();
        assert_eq!(left, 0, "{target}");
    }
}

#[test]
fn a_file_that_exists_and_a_drive_that_does_not_fail_the_step() {
    let review = step_named("Review");
    let runner = Runner::new();
    let letter = runner.dir.path().join("work/letter");
    fs::write(&letter, "dear reader").expect("it can be written");
    let of = |target| {
        let given = [("inputs.target", target), ("inputs.size", "64M"), ("inputs.methods", "trim")];
        let ran = runner.run(&review, &given);
        (
            ran.status.code(),
            String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned(),
        )
    };
    let (code, said) = of("./letter");
    assert!(code == Some(2) && said.contains("::error::./letter exists"), "{said}");
    assert_eq!(fs::read_to_string(&letter).expect("it is there"), "dear reader");
    let (code, said) = of("crucial-m4-65gb");
    assert!(code == Some(2) && said.contains("did you mean"), "{said}");
    // What a caller gives is no code: this is a name without a drive.
    let (code, _) = of("$(touch made)`touch made`");
    assert!(code == Some(2) && !runner.dir.path().join("work/made").exists());
    assert_eq!(runner.written("summary"), "");
}

#[test]
fn a_pull_request_has_one_comment_which_the_next_review_changes() {
    let comment = step_named("Comment");
    let runner = Runner::new();
    fs::write(runner.temp("tables.md"), "| a |\n|---|\n").expect("it can be written");
    let tables = runner.temp("tables.md").display().to_string();
    let given = [
        ("inputs.token", "secret"),
        ("github.event.pull_request.number", "7"),
        ("steps.review.outputs.markdown", tables.as_str()),
    ];
    let asked = || {
        let _ = fs::remove_file(runner.temp("asked"));
        let ran = runner.run(&comment, &given);
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        runner.written("asked")
    };
    let first = asked();
    let comments = "repos/somebody/something/issues/7/comments";
    assert!(first.contains(&format!("POST\n{comments}\n")) && !first.contains("PATCH"), "{first}");
    let body = runner.written("fourcorners-comment.md");
    assert_eq!(body, "<!-- fourcorners review -->\n| a |\n|---|\n");
    // It finds what it wrote by how that begins.
    assert!(first.contains("startswith(\"<!-- fourcorners review -->\")"), "{first}");
    fs::write(runner.temp("earlier"), "41\n42\n").expect("it can be written");
    let second = asked();
    let changed = "PATCH\nrepos/somebody/something/issues/comments/41\n";
    assert!(second.contains(changed) && !second.contains("POST"), "{second}");
    assert!(!first.contains("secret") && !second.contains("secret"));
}
