//! `scripts/release`, the checklist of a release: what it refuses, in a repository made for it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A repository that passes the first two steps.
struct Repository(TempDir);

impl Repository {
    fn new() -> Repository {
        let repository = Repository(tempfile::tempdir().expect("a folder"));
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/release");
        for folder in ["scripts", "python"] {
            fs::create_dir(repository.0.path().join(folder)).expect("it can be made");
        }
        fs::copy(script, repository.0.path().join("scripts/release")).expect("it can be copied");
        repository.write("Cargo.toml", "[workspace.package]\nversion = \"1.2.3\"\n");
        repository.write("python/Cargo.toml", "[package]\nversion = \"1.2.3\"\n");
        repository.write(
            "CHANGELOG.md",
            "# Changelog\n\n## 1.2.3 - 2026-11-27\n\n## 1.2.2 - 2026-01-01\n",
        );
        repository.git(&["init", "-q", "-b", "main"]);
        repository.commit();
        repository
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.0.path().join(path), text).expect("it can be written");
    }

    fn git(&self, words: &[&str]) {
        let who = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        let done = Command::new("git").current_dir(self.0.path()).args(who).args(words).output();
        let done = done.expect("git is there");
        assert!(done.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn commit(&self) {
        self.git(&["add", "."]);
        self.git(&["commit", "-q", "-m", "all"]);
    }

    fn release(&self, words: &[&str]) -> Output {
        let mut script = Command::new(self.0.path().join("scripts/release"));
        script.args(words).output().expect("bash is there")
    }

    /// What it says on the way to its refusal.
    fn refusal(&self, words: &[&str]) -> String {
        let refused = self.release(words);
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        assert!(!String::from_utf8_lossy(&refused.stdout).contains("Left to do"), "{refused:?}");
        String::from_utf8(refused.stderr).expect("UTF-8")
    }
}

const LOOKED_AT: [&str; 2] = ["tree", "version"];

#[test]
fn a_tree_with_one_version_and_its_section_can_be_released() {
    let done = Repository::new().release(&LOOKED_AT);
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{done:?}");
    assert!(said.contains("ok: tree") && said.contains("ok: version"), "{said}");
    assert!(said.contains("git tag -a v1.2.3"), "{said}");
}

#[test]
fn what_is_not_committed_or_on_another_branch_is_refused() {
    let repository = Repository::new();
    repository.write("README.md", "new");
    assert!(repository.refusal(&LOOKED_AT).contains("not committed: README.md, of 1 files"));
    repository.commit();
    repository.git(&["checkout", "-q", "-b", "other"]);
    assert!(repository.refusal(&LOOKED_AT).contains("the branch is other"));
}

#[test]
fn a_version_is_the_same_everywhere_and_new() {
    let repository = Repository::new();
    repository.write("python/Cargo.toml", "[package]\nversion = \"1.2.2\"\n");
    assert!(repository.refusal(&["version"]).contains("version 1.2.3 and python/Cargo.toml 1.2.2"));
    let repository = Repository::new();
    repository.write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n## 1.2.3 - 2026-11-27\n");
    assert!(repository.refusal(&["version"]).contains("is \"Unreleased\""));
    // The dots of a version match only dots.
    repository.write("CHANGELOG.md", "# Changelog\n\n## 1x2x3 - 2026-11-27\n");
    assert!(repository.refusal(&["version"]).contains("is \"1x2x3"));
    let repository = Repository::new();
    repository.git(&["tag", "v1.2.3"]);
    assert!(repository.refusal(&["version"]).contains("the tag v1.2.3 is there already"));
}

#[test]
fn sums_and_users_need_what_the_steps_before_make() {
    let repository = Repository::new();
    assert!(repository.refusal(&["users"]).contains("scripts/release packages makes it"));
    assert!(repository.refusal(&["sums"]).contains("nothing of version 1.2.3 in packages"));
    fs::create_dir(repository.0.path().join("packages")).expect("it can be made");
    repository.write("packages/fourcorners-1.2.2-x86_64.tar.gz", "old");
    assert!(repository.refusal(&["sums"]).contains("nothing of version 1.2.3 in packages"));
    repository.write("packages/fourcorners-1.2.3-x86_64.tar.gz", "new");
    let done = repository.release(&["sums"]);
    assert!(done.status.success(), "{done:?}");
    let sums = fs::read_to_string(repository.0.path().join("packages/SHA256SUMS"));
    let sums = sums.expect("it is written");
    assert_eq!(sums.lines().count(), 1, "{sums}");
    assert!(sums.ends_with("  fourcorners-1.2.3-x86_64.tar.gz\n"), "{sums}");
    // A step that is none is one error, and nothing is done.
    let nonsense = repository.release(&["version", "publish"]);
    assert_eq!(nonsense.status.code(), Some(2));
    assert!(nonsense.stdout.is_empty(), "{nonsense:?}");
}
