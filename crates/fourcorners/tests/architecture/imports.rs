//! Which file of a crate takes names from which, and the circles of them.
//!
//! An arrow from a file to another: a `use` of, or a path to, an item of that file. A name that a module only
//! hands on (`pub use child::Name`) is its child's. Unit tests are left out, as are globs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A module by its path in the crate; the crate's root is empty.
pub(crate) type Module = Vec<String>;

/// The files of a crate, by the modules that they are, without comments and unit tests.
type Files = BTreeMap<Module, String>;

/// The module that a file of a source folder is.
fn module_of(folder: &Path, file: &Path) -> Module {
    let inside = file.strip_prefix(folder).expect("a file of the folder").with_extension("");
    let mut module: Module =
        inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        module.pop();
    }
    module
}

/// The text of a file up to its unit tests, without comments and literals, which may hold paths too.
fn plain(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let text = lines.collect::<Vec<_>>().join("\n");
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let text = text[..end].replace("\\\"", "").replace("'\"'", "");
    text.split('"').step_by(2).collect::<Vec<_>>().join("\"\"")
}

/// The paths of a `use` tree: `a::{b, c::d}` is two.
fn paths_of(tree: &str) -> Vec<Vec<String>> {
    let segments = |text: &str| -> Vec<String> {
        let text = text.split(" as ").next().unwrap_or_default();
        text.split("::").map(|it| it.trim().into()).filter(|it: &String| !it.is_empty()).collect()
    };
    let Some((head, rest)) = tree.split_once('{') else { return vec![segments(tree)] };
    let head = segments(head);
    let inner = rest.trim_end().strip_suffix('}').unwrap_or(rest);
    let (mut depth, mut from, mut parts) = (0, 0, Vec::new());
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inner[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[from..]);
    let parts = parts.into_iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(paths_of).map(|path| [head.clone(), path].concat()).collect()
}

/// What a file names.
struct Names {
    /// Its `use` declarations: whether they hand a name on, and the path.
    uses: Vec<(bool, Vec<String>)>,
    /// The paths in its code.
    paths: Vec<Vec<String>>,
}

fn names_of(text: &str) -> Names {
    let (mut uses, mut code) = (Vec::new(), String::new());
    let mut rest = text;
    while let Some(at) = rest.find("use ") {
        let line = rest[..at].rfind('\n').map_or(0, |end| end + 1);
        let before = rest[line..at].trim();
        let declares = before.is_empty() || before == "pub" || before.starts_with("pub(");
        let end = rest[at..].find(';').map_or(rest.len(), |end| at + end);
        if declares {
            code.push_str(&rest[..line]);
            let paths = paths_of(&rest[at + "use ".len()..end]);
            uses.extend(paths.into_iter().map(|path| (!before.is_empty(), path)));
            rest = &rest[end..];
        } else {
            code.push_str(&rest[..at + "use ".len()]);
            rest = &rest[at + "use ".len()..];
        }
    }
    code.push_str(rest);
    // Who may see an item is no arrow.
    let mut parts = code.split("pub(in ");
    let first = parts.next().unwrap_or_default().to_string();
    let code = parts
        .fold(first, |code, part| code + part.split_once(')').map_or(part, |(_, behind)| behind));
    let words = code.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
    let paths = words.filter(|word| word.contains("::") && !word.starts_with(':'));
    let split =
        |word: &str| word.split("::").filter(|it| !it.is_empty()).map(String::from).collect();
    Names { uses, paths: paths.map(split).collect() }
}

/// The arrows between the files of a crate.
struct Arrows {
    files: Files,
    /// What each module hands on: a name, and where it is from.
    handed_on: BTreeMap<(Module, String), (Module, Vec<String>)>,
}

impl Arrows {
    /// A path as seen in a module, from a module of this crate on; `None` if it leads elsewhere.
    fn absolute(&self, here: &Module, path: &[String]) -> Option<(Module, Vec<String>)> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some((Module::new(), rest.to_vec())),
            "self" => Some((here.clone(), rest.to_vec())),
            "super" => {
                let up = path.iter().take_while(|it| *it == "super").count();
                let above = here.len().checked_sub(up)?;
                Some((here[..above].to_vec(), path[up..].to_vec()))
            }
            _ => {
                let child = [&here[..], std::slice::from_ref(first)].concat();
                self.files.contains_key(&child).then(|| (here.clone(), path.to_vec()))
            }
        }
    }

    /// The file that has the item of a path.
    fn file_of(&self, (mut module, mut rest): (Module, Vec<String>)) -> Option<Module> {
        // No chain of names that are handed on is longer than there are files.
        for _ in 0..=self.files.len() {
            while let Some(first) = rest.first().cloned() {
                let child = [&module[..], &[first]].concat();
                if !self.files.contains_key(&child) {
                    break;
                }
                (module, rest) = (child, rest.split_off(1));
            }
            let name = rest.first().cloned().unwrap_or_default();
            match self.handed_on.get(&(module.clone(), name)) {
                Some((from, path)) => {
                    rest = [&path[..], &rest[1..]].concat();
                    module = from.clone();
                }
                None => break,
            }
        }
        self.files.contains_key(&module).then_some(module)
    }
}

/// Which files of a source folder take names from which.
pub(crate) fn arrows(
    folder: &Path,
    sources: &[(std::path::PathBuf, String)],
) -> BTreeMap<Module, BTreeSet<Module>> {
    let files: Files =
        sources.iter().map(|(file, text)| (module_of(folder, file), plain(text))).collect();
    let mut arrows = Arrows { files, handed_on: BTreeMap::new() };
    let named: Vec<_> =
        arrows.files.iter().map(|(module, text)| (module.clone(), names_of(text))).collect();
    for (module, Names { uses, .. }) in &named {
        for (_, path) in uses {
            if let (Some(from), Some(name)) = (arrows.absolute(module, path), path.last()) {
                arrows.handed_on.insert((module.clone(), name.clone()), from);
            }
        }
    }
    let mut found = BTreeMap::new();
    for (module, Names { uses, paths }) in &named {
        let uses = uses.iter().filter(|(hands_on, _)| !hands_on).map(|(_, path)| path);
        let paths = uses.chain(paths).filter(|path| path.last().is_some_and(|last| last != "*"));
        let to = paths.filter_map(|path| arrows.file_of(arrows.absolute(module, path)?));
        let to: BTreeSet<Module> = to.filter(|to| to != module).collect();
        found.insert(module.clone(), to);
    }
    found
}

/// The circles of a graph: its strongly connected parts of two files and more, each with its files in order.
pub(crate) fn circles(arrows: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<Vec<Module>> {
    let reached = |from: &Module| {
        let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(module) = next.pop() {
            for to in arrows.get(module).into_iter().flatten() {
                if reached.insert(to) {
                    next.push(to);
                }
            }
        }
        reached
    };
    // A crate has some dozens of files: no cleverer way is needed.
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        arrows.keys().map(|module| (module, reached(module))).collect();
    let mut circles: Vec<Vec<Module>> = Vec::new();
    for (module, to) in &reached {
        let returns =
            to.iter().filter(|to| reached.get(**to).is_some_and(|it| it.contains(module)));
        let circle: Vec<Module> = returns.map(|to| (*to).clone()).collect();
        if circle.len() > 1 && !circles.contains(&circle) {
            circles.push(circle);
        }
    }
    circles
}
