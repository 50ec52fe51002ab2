//! README.md, ARCHITECTURE.md and docs/ against the program: their length, their links, the commands and
//! options they name, and the figures that README.md repeats from generated documents.
//!
//! A rule is a function that lists what breaks it. Each is held against the documents, and against a planted
//! violation that it has to find.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A line that breaks a rule, with its document.
type Violation = String;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).expect("a document in UTF-8")
}

/// Every document that a person writes or reads, with its text; paths from the root.
fn documents() -> Vec<(PathBuf, String)> {
    let top =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "python/README.md"];
    let docs = fs::read_dir(root().join("docs")).expect("docs/");
    let docs = docs.map(|entry| PathBuf::from("docs").join(entry.expect("an entry").file_name()));
    let docs = docs.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let paths: Vec<PathBuf> = top.map(PathBuf::from).into_iter().chain(docs).collect();
    assert!(paths.len() > 10, "docs/ is looked for where it is");
    paths.into_iter().map(|path| (path.clone(), read(&path.to_string_lossy()))).collect()
}

fn too_long(name: &str, text: &str, most: usize) -> Option<Violation> {
    let lines = text.lines().count();
    (lines > most).then(|| format!("{name} has {lines} lines, and {most} are the limit"))
}

#[test]
fn readme_and_architecture_are_short() {
    assert_eq!(too_long("README.md", &read("README.md"), 150), None);
    assert_eq!(too_long("ARCHITECTURE.md", &read("ARCHITECTURE.md"), 200), None);
    assert!(too_long("x", "a\nb\nc", 2).is_some(), "three lines are more than two");
}

/// Links of a document to files that are not there. Addresses and places within a page are not looked at.
fn broken_links(path: &Path, text: &str) -> Vec<Violation> {
    let folder = path.parent().expect("a document has a folder");
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files = targets.map(|target| target.split('#').next().unwrap_or_default());
    let files = files.filter(|file| !file.is_empty() && !file.contains("://"));
    let broken = files.filter(|file| !root().join(folder).join(file).exists());
    broken.map(|file| format!("{}: there is no {file}", path.display())).collect()
}

#[test]
fn links_lead_to_files() {
    let broken: Vec<Violation> =
        documents().iter().flat_map(|(path, text)| broken_links(path, text)).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    let planted = "[a](README.md), [b](https://x.example/none), [c](none.md#part)";
    assert_eq!(broken_links(Path::new("README.md"), planted).len(), 1);
}

/// Files of the way from `review` to a die, in ARCHITECTURE.md: second column of a table with numbered rows.
fn steps_of_the_way(text: &str) -> Vec<String> {
    let cells = text.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    let numbered = cells.filter(|cells| cells.len() > 3 && cells[1].parse::<u32>().is_ok());
    numbered.map(|cells| cells[2].trim_matches('`').to_string()).collect()
}

#[test]
fn the_way_from_review_to_a_die_is_fourteen_files_or_fewer() {
    let way = steps_of_the_way(&read("ARCHITECTURE.md"));
    assert!((5..=14).contains(&way.len()), "{way:?}");
    for file in &way {
        assert!(root().join("crates").join(file).exists(), "there is no crates/{file}");
    }
    assert_eq!(steps_of_the_way("| # | file |\n| 1 | `a/b.rs` | x |\n"), ["a/b.rs"]);
}

/// What is typed in a document after `fourcorners`: lines of shells, and code in tables.
fn commands(text: &str) -> Vec<String> {
    let typed = text.lines().filter_map(|line| line.trim_start().strip_prefix("$ fourcorners "));
    let typed = typed.map(|line| line.split(" #").next().unwrap_or_default());
    let rows = text.lines().filter(|line| line.starts_with('|'));
    let quoted = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
    let quoted = quoted.filter_map(|code| code.strip_prefix("fourcorners "));
    typed.chain(quoted).map(|line| line.trim().to_string()).collect()
}

/// The help of a command, once asked for.
#[derive(Default)]
struct Help(BTreeMap<Vec<String>, Option<String>>);

impl Help {
    fn of(&mut self, command: &[&str]) -> Option<&str> {
        let key: Vec<String> = command.iter().map(ToString::to_string).collect();
        let ask = || {
            let mut program = Command::new(env!("CARGO_BIN_EXE_fourcorners"));
            let ran = program.args(command).arg("--help").output().expect("the program runs");
            ran.status.success().then(|| String::from_utf8_lossy(&ran.stdout).into_owned())
        };
        self.0.entry(key).or_insert_with(ask).as_deref()
    }
}

/// Commands that the program does not have, or that do not take an option they are given.
fn unknown_commands(path: &Path, text: &str, help: &mut Help) -> Vec<Violation> {
    let mut found = Vec::new();
    for command in commands(text) {
        let words: Vec<&str> = command.split_whitespace().collect();
        let Some(&first) = words.first() else { continue };
        let nested = matches!(first, "results" | "trace") && words.len() > 1;
        let name = if nested { &words[..2] } else { &words[..1] };
        let Some(text) = help.of(name) else {
            found.push(format!("{}: there is no command {}", path.display(), name.join(" ")));
            continue;
        };
        let options = words.iter().filter(|word| word.starts_with("--"));
        let options = options.map(|word| word.split('=').next().unwrap_or(word));
        // A value that may be left out is in brackets.
        let has = |option: &&str| text.split([' ', '\n', '[']).any(|word| word == *option);
        let unknown = options.filter(|option| !has(option));
        found.extend(unknown.map(|option| format!("{}: {command}: no {option}", path.display())));
    }
    found
}

#[test]
fn commands_of_the_documents_are_those_of_the_program() {
    let mut help = Help::default();
    let mut checked = 0;
    let mut unknown = Vec::new();
    for (path, text) in documents() {
        checked += commands(&text).len();
        unknown.extend(unknown_commands(&path, &text, &mut help));
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
    assert!(checked > 100, "{checked} commands were found");
    let planted = "$ fourcorners review m4 --quick # yes\n$ fourcorners review m4 --fast\n| `fourcorners brew` |";
    assert_eq!(unknown_commands(Path::new("x"), planted, &mut help).len(), 2);
}

/// The rows of README.md's tables that repeat sums of docs/FIDELITY.md.
fn fidelity_rows(fidelity: &str) -> Vec<String> {
    let row = |line: &str| {
        let (kind, rest) = line.strip_prefix("- ")?.split_once(": ")?;
        let (count, rest) = rest.split_once(" figures, median error ")?;
        let (median, ninth) = rest.split_once(", 90th percentile ")?;
        let kind = kind.to_lowercase();
        matches!(&kind[..], "fitted" | "predicted")
            .then(|| format!("| {kind} | {count} | {median} | {ninth} |"))
    };
    fidelity.lines().filter_map(row).collect()
}

/// The ends of the rows of README.md's table that repeat the groups of docs/FIDELITY.md.
fn group_sums(fidelity: &str) -> Vec<String> {
    let sum = |group: &str| {
        let line = fidelity.lines().find_map(|line| line.strip_prefix(&format!("- {group}: ")))?;
        let (count, rest) = line.split_once(" figures, median error ")?;
        let (median, ninth) = rest.split_once(", 90th percentile ")?;
        Some(format!(" | {count} | {median} | {ninth} |"))
    };
    ["Random QD 1", "Synchronous writes"].map(|group| sum(group).expect("a group")).into()
}

/// How near paced writes and the reads beside them are, by the two rows of docs/DISTRIBUTIONS.md: fitted and predicted.
fn paced(distributions: &str) -> String {
    let column = |at: usize| most(distributions, &["paced-writes-steady"], at..at + 1);
    format!(
        "within {} % up to the 99th percentile and {} % up to the 99.99th",
        column(5),
        column(6)
    )
}

/// The largest percentage of some columns, in the rows of docs/DISTRIBUTIONS.md's sums that are of these kinds.
fn most(distributions: &str, kinds: &[&str], columns: Range<usize>) -> u32 {
    let is_of = |line: &&str| kinds.iter().any(|kind| line.starts_with(&format!("| {kind} | ")));
    // Further down, the same kinds are told by how near a second measurement was.
    let sums = distributions.split("\n## The same test").next().unwrap_or_default();
    let rows = sums.lines().filter(is_of);
    let cells = rows.flat_map(|row| row.split(" | ").skip(columns.start).take(columns.len()));
    let percent = |cell: &str| cell.trim_end_matches(" %").parse::<u32>().expect("a percentage");
    cells.filter(|cell| *cell != "-").map(percent).max().expect("a row")
}

/// How near random reads are, by the rows of docs/DISTRIBUTIONS.md: at most so much in any of the three columns.
fn random_reads(distributions: &str) -> String {
    let most = |kinds: &[&str]| most(distributions, kinds, 4..7);
    let alone = most(&["randread-qd", "randread-qd-spdk", "randread-bs"]);
    let processes = most(&["randread-jobs-qd1", "randread-jobs-qd128", "randread-jobs-qd128-spdk"]);
    format!(
        "by depth and size are within {alone} % (medians) up to the 99.99th\npercentile, by number of processes within {processes} %"
    )
}

/// How far reads beside writers are off, by the rows of docs/DISTRIBUTIONS.md's entries that have any beside them.
fn beside_writers(distributions: &str) -> String {
    let section = distributions.split("\n## ").find(|it| it.starts_with("read-beside-writers\n"));
    let rows = section.expect("a section").lines().filter(|line| line.starts_with("| 980pro-"));
    let cells = rows.map(|row| row.split(" | ").collect::<Vec<&str>>());
    let error = |cell: &str| cell.trim_end_matches(" %").parse::<u32>().expect("a percentage");
    let errors: Vec<u32> =
        cells.filter(|cells| !cells[0].ends_with("-n0")).map(|cells| error(cells[4])).collect();
    let (least, most) = (errors.iter().min(), errors.iter().max());
    format!("the median error of a test is {} to {} %", least.expect("a row"), most.expect("a row"))
}

/// Families of the catalogue that get warm, and those with a value of `[variation]` that is fitted, in README.md's words.
fn families<'f>(files: impl Iterator<Item = &'f str>) -> [String; 2] {
    let in_words = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    let (mut warm, mut fitted) = (0, 0);
    for file in files {
        let sections = || file.split("\n[");
        warm += usize::from(sections().any(|it| it.starts_with("heat]")));
        let is_fitted =
            |it: &str| it.starts_with("variation]") && it.contains("standing = \"fitted\"");
        fitted += usize::from(sections().any(is_fitted));
    }
    [
        format!("the heat of all but {}", in_words[warm]),
        format!("fitted in part for {} families", in_words[fitted]),
    ]
}

#[test]
fn the_limits_of_the_readme_are_those_of_the_catalogue() {
    let (readme, folder) = (read("README.md"), root().join("drives"));
    let files = fs::read_dir(folder).expect("the catalogue").flatten();
    let of_drives = files.filter(|it| it.path().extension().is_some_and(|it| it == "toml"));
    let texts: Vec<String> =
        of_drives.map(|it| fs::read_to_string(it.path()).expect("a text")).collect();
    for words in families(texts.iter().map(String::as_str)) {
        assert!(readme.contains(&words), "drives/ has {words:?}, and README.md has not");
    }
    let warm = "kind = \"ssd\"\n[heat]\na = 1\n[variation]\nb = { standing = \"inferred\" }\n";
    let fitted = "kind = \"ssd\"\n[variation]\nb = { standing = \"fitted\" }\n";
    let said = ["the heat of all but one", "fitted in part for two families"];
    assert_eq!(families([warm, fitted, fitted].into_iter()), said);
}

/// What README.md's examples have to say by docs/FIDELITY.md: by the figure's id the value, in three digits, and whether it
/// was fitted.
fn example(fidelity: &str, id: &str) -> Option<(String, bool)> {
    let row = fidelity.lines().find(|line| line.starts_with(&format!("| {id} |")))?;
    let cells: Vec<&str> = row.split(" | ").collect();
    let value: f64 = cells.get(4)?.parse().ok()?;
    let decimals = (2 - value.log10().floor() as i32).max(0) as usize;
    Some((format!("{value:.decimals$}"), *cells.get(6)? == "fitted"))
}

/// The ids of figures in a row of README.md's examples.
fn ids(row: &str) -> Vec<&str> {
    let words = row.split(|c: char| !c.is_ascii_alphanumeric());
    let is_id =
        |word: &&str| word.len() == 4 && word.starts_with('m') && word[1..].parse::<u32>().is_ok();
    words.filter(is_id).collect()
}

#[test]
fn the_examples_of_the_readme_are_those_of_the_generated_table() {
    let (readme, fidelity) = (read("README.md"), read("docs/FIDELITY.md"));
    let mut checked = 0;
    for row in readme.lines().filter(|line| line.starts_with('|') && !ids(line).is_empty()) {
        let virtual_ = row.trim_end_matches(" |").rsplit(" | ").next().expect("a last cell");
        for id in ids(row) {
            let (value, fitted) = example(&fidelity, id).expect("a figure of docs/FIDELITY.md");
            let has = virtual_.split(|c: char| c.is_whitespace() || c == ',').any(|it| it == value);
            assert!(has, "{id} is {value} in docs/FIDELITY.md: {row}");
            assert_eq!(virtual_.contains("*fitted*"), fitted, "{id}: {row}");
            checked += 1;
        }
    }
    assert!(checked >= 5, "{checked}");
    let planted = "| m007 | a | b | c | 0.05721 | -5 % | predicted | x | |";
    assert_eq!(example(planted, "m007"), Some(("0.0572".into(), false)));
    assert_eq!(ids("| an m4 and m0071 (x; m007) |"), ["m007"]);
}

/// How many orderings, ratios and bounds hold, in the words of docs/FIDELITY.md.
fn holding(fidelity: &str) -> Vec<String> {
    let line = fidelity.lines().find_map(|line| line.strip_prefix("- Hold: ")).expect("a sum");
    let held = line.split('.').next().unwrap_or_default();
    held.split(", ").map(ToString::to_string).collect()
}

/// How many figures are off by more than 30 %, by the marks of the distribution in docs/FIDELITY.md.
fn far_off(fidelity: &str) -> String {
    let marks = |line: &str| line.chars().rev().take_while(|mark| "#o".contains(*mark)).count();
    let rows = fidelity.lines().filter_map(|line| {
        let from = line.trim_start();
        let is_row = from.starts_with("to ") || from.starts_with("more ");
        is_row.then(|| (from, marks(line)))
    });
    let (mut all, mut far) = (0, 0);
    for (from, marks) in rows {
        all += marks;
        far += if ["to 60", "to 100", "more"].iter().any(|it| from.starts_with(it)) {
            marks
        } else {
            0
        };
    }
    format!("{far} of {all} figures are off by more than 30 %")
}

/// The same of docs/VERDICTS.md: a level of noise, and over all verdicts of reviews at full length how many are
/// identifiable, right, wrong and undetermined.
fn verdict_rows(verdicts: &str) -> Vec<(String, String)> {
    let mut sums: Vec<(String, [u32; 4])> = Vec::new();
    let (mut counted, mut full) = (false, false);
    for line in verdicts.lines() {
        if line.starts_with("## ") {
            full = false;
        }
        if let Some(level) = line.strip_prefix("## Reviews at full length, noise: ") {
            let level = level.split_whitespace().next().unwrap_or_default();
            sums.push((level.to_string(), [0; 4]));
            full = true;
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        match (&cells[..], sums.last_mut()) {
            ([_, "verdict", second, ..], _) => counted = *second == "drives",
            ([_, verdict, _, numbers @ ..], Some((_, sum)))
                if full && counted && verdict.starts_with('`') && numbers.len() >= 4 =>
            {
                for (sum, number) in sum.iter_mut().zip(numbers) {
                    *sum += number.parse::<u32>().expect("a count");
                }
            }
            _ => {}
        }
    }
    let row = |(level, [all, right, wrong, open]): (String, [u32; 4])| {
        (level, format!(" | {all} | {right} | {wrong} | {open} |"))
    };
    sums.into_iter().map(row).collect()
}

#[test]
fn readme_has_the_sums_of_the_generated_documents() {
    let (readme, fidelity) = (read("README.md"), read("docs/FIDELITY.md"));
    let rows = fidelity_rows(&fidelity);
    assert_eq!(rows.len(), 2, "{rows:?}");
    for row in rows {
        assert!(readme.contains(&row), "docs/FIDELITY.md has {row}, and README.md has not");
    }
    for sum in
        group_sums(&fidelity).into_iter().chain(holding(&fidelity)).chain([far_off(&fidelity)])
    {
        assert!(readme.contains(&sum), "docs/FIDELITY.md has {sum:?}, and README.md has not");
    }
    let run =
        fidelity.lines().find(|line| line.ends_with(" figures were run.")).expect("its first sum");
    let run = run.trim_start_matches("- ").trim_end_matches(" were run.");
    assert!(readme.contains(run), "docs/FIDELITY.md has {run}, and README.md has not");

    let distributions = read("docs/DISTRIBUTIONS.md");
    let paced_now = paced(&distributions);
    assert!(
        readme.contains(&paced_now),
        "docs/DISTRIBUTIONS.md has {paced_now}, and README.md has not"
    );
    let random = random_reads(&distributions);
    assert!(readme.contains(&random), "docs/DISTRIBUTIONS.md has {random}, and README.md has not");
    let beside = beside_writers(&distributions);
    assert!(
        readme.contains(&beside),
        "docs/DISTRIBUTIONS.md has {beside:?}, and README.md has not"
    );
    let planted = "\n## read-beside-writers\n\n| 980pro-x8-n0 | d | fitted | 20 | 4 % | - |\n\
                   | 980pro-x8-n1 | d | fitted | 20 | 8 % | - |\n| 980pro-x8-n4 | d | fitted | 20 | 9 % | - |\n\
                   \n## repeat5\n\n| 980pro-x8-n1 | d | fitted | 20 | 99 % | - |";
    assert_eq!(beside_writers(planted), "the median error of a test is 8 to 9 %");
    let planted = "| randread-qd | fitted | 13 | 0 | 2 % | 7 % | 10 % | 100 % | 12 % |\n\
                   | randread-jobs-qd1 | predicted | 4 | 1 | 18 % | 11 % | 6 % | - | 65 % |";
    assert!(random_reads(planted).contains("within 10 % (medians)"));
    assert!(random_reads(planted).ends_with("within 18 %"));
    let planted = "| paced-writes-steady | fitted | 28 | 0 | 4 % | 9 % | 24 % | - | 17 % |\n\
                   | paced-writes-steady | predicted | 14 | 0 | 4 % | 12 % | 7 % | - | 1 % |\n\
                   \n## The same test, measured twice\n\n| paced-writes-steady | 2 | 1 % | 90 % | 99 % | - | 4 % |";
    assert_eq!(paced(planted), "within 12 % up to the 99th percentile and 24 % up to the 99.99th");

    let levels = verdict_rows(&read("docs/VERDICTS.md"));
    assert_eq!(levels.len(), 3, "{levels:?}");
    for (level, row) in levels {
        let line = readme.lines().find(|line| line.starts_with(&format!("| {level} ")));
        let line = line.unwrap_or_else(|| panic!("README.md has no noise level {level}"));
        assert!(line.ends_with(&row), "docs/VERDICTS.md has {level}{row}, README.md {line}");
    }

    let planted = "- Fitted: 2 figures, median error 3 %, 90th percentile 4 %\n- All: 9 figures";
    assert_eq!(fidelity_rows(planted), ["| fitted | 2 | 3 % | 4 % |"]);
    let planted = "- Random QD 1: 2 figures, median error 3 %, 90th percentile 4 %\n\
                   - Synchronous writes: 5 figures, median error 6 %, 90th percentile 7 %\n\
                   - Hold: 1 of 2 orderings, 3 of 4 ratios. The worst: a.\n\
                   to 30 % ##o\n   to 60 % #o\n more o\n";
    assert_eq!(group_sums(planted), [" | 2 | 3 % | 4 % |", " | 5 | 6 % | 7 % |"]);
    assert_eq!(holding(planted), ["1 of 2 orderings", "3 of 4 ratios"]);
    assert_eq!(far_off(planted), "3 of 6 figures are off by more than 30 %");
    // Quick reviews and other tables do not count.
    let table = "| verdict | drives | x |\n|---|---|---|\n| `a` | 9 | 8 | 5 | 1 | 2 | 3 | 0 |\n";
    let other = "| verdict | truth | said |\n| `a` | 1 | 2 | 3 | 4 | 5 |\n";
    let planted = format!(
        "## Reviews at full length, noise: lab (1.5 % of a rate)\n{table}{other}## Quick reviews, noise: lab\n{table}"
    );
    let sums = [("lab".to_string(), " | 8 | 5 | 1 | 2 |".to_string())];
    assert_eq!(verdict_rows(&planted), sums);
}

#[test]
fn readme_counts_the_drives_of_the_catalogue() {
    let count = fourcorners_catalogue::names().len();
    let told = format!("The catalogue has {count} drives");
    assert!(read("README.md").contains(&told), "{told}");
}
