use super::*;

const ARRAY: &str = "kind = \"raid5\"\nchunk = \"64 KiB\"\ntrim = false\nfailed = 2\nrebuild = \"50 MB/s\"\n\
                     [[drive]]\nname = \"crucial-m4-64gb\"\nnumber = 3\n";
const CACHE_TEXT: &str = "kind = \"cache\"\nmode = \"write-back\"\nreplacement = \"2q\"\nblock = \"16 KiB\"\n\
                          dirty = \"20 %\"\nbypass = \"off\"\nstart = \"warm\"\ntrim = false\n\
                          [ssd]\nname = \"crucial-m4-64gb\"\n[disk]\nname = \"wd-velociraptor-300gb\"\n";

fn in_folder(text: &str, folder: &Path) -> Result<ArrayProfile, String> {
    let file = ArrayFile::of_text(text.into(), "mine.toml", folder).expect("it is of several");
    file.and_then(|file| file.profile(None, &[])).map_err(|error| error.to_string())
}

fn of(text: &str) -> Result<ArrayProfile, String> {
    in_folder(text, Path::new(""))
}

fn named(name: &str) -> ArrayProfile {
    let found = ArrayProfile::parse(name, None, &[]).expect("the name of several");
    found.unwrap_or_else(|error| panic!("{error}"))
}

/// What a record says of it.
fn info(profile: &ArrayProfile) -> fourcorners_record::TargetInfo {
    profile.target_info(profile.geometry())
}

#[test]
fn a_file_is_the_name_that_says_the_same() {
    for (text, name) in [
        (ARRAY, "raid5:3xcrucial-m4-64gb:64k:no-trim:failed=2:rebuild=50"),
        (
            CACHE_TEXT,
            "cache:crucial-m4-64gb+wd-velociraptor-300gb:write-back:2q:16k:dirty=20%:bypass=off:warm:no-trim",
        ),
        (
            "kind = \"concat\"\ndrive = [{ name = \"crucial-m4-64gb\" }, { name = \"wd-velociraptor-300gb\" }]",
            "concat:crucial-m4-64gb+wd-velociraptor-300gb",
        ),
        (
            "kind = \"raid0\"\nchunk = \"1 MiB\"\n[[drive]]\nname = \"crucial-m4-64gb\"\nnumber = 2",
            "raid0:2xcrucial-m4-64gb:1m",
        ),
    ] {
        let (of_file, of_name) = (of(text).expect(name), named(name));
        assert_eq!(of_file.name, name);
        assert_eq!(info(&of_file), info(&of_name), "{name}");
        assert_eq!(of_file.kind, of_name.kind, "{name}");
    }
    // Control: with a name and a title of its own it is the same drives, and called otherwise.
    let own = of(&format!("name = \"nas\"\ntitle = \"Ours\"\n{ARRAY}")).expect("it is one");
    assert_eq!((own.name.as_str(), own.title.as_str()), ("nas", "Ours"));
    assert_eq!(own.hash(), of(ARRAY).expect("it is one").hash());
    let set = own.again(None, &["host.command_us=7".into()]).expect("it can be set");
    assert_ne!(set.hash(), own.hash());
    assert_eq!(set.name, own.name);
}

#[test]
fn every_line_of_a_file_changes_what_it_makes() {
    for text in [ARRAY, CACHE_TEXT] {
        let whole = of(text).expect("it is one");
        let (head, tables) = text.split_at(text.find('[').expect("a table"));
        for line in head.lines().filter(|line| !line.starts_with("kind")) {
            let without = head.replace(&format!("{line}\n"), "") + tables;
            match of(&without) {
                Ok(other) => assert_ne!(other.hash(), whole.hash(), "{line}"),
                // A rebuild is of a drive that has failed.
                Err(why) => {
                    assert!(line.starts_with("failed") && why.contains("failed = 1"), "{why}")
                }
            }
        }
    }
    for (old, new) in [
        ("\"raid5\"", "\"raid1\""),
        ("number = 3", "number = 4"),
        ("crucial-m4-64gb", "crucial-m4-128gb"),
        ("failed = 2", "failed = 3"),
    ] {
        let other = of(&ARRAY.replace(old, new)).expect(new);
        assert_ne!(other.hash(), of(ARRAY).expect("it is one").hash(), "{new}");
    }
}

#[test]
fn a_drive_may_be_a_file_beside_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let m4 = catalogue::built_in("crucial-m4-64gb", &[]).expect("it is built in");
    std::fs::write(folder.path().join("own.toml"), m4.to_toml()).expect("it can be written");
    let text = "name = \"mine\"\nkind = \"raid0\"\n[[drive]]\nfile = \"own.toml\"\nnumber = 2\n";
    let own = in_folder(text, folder.path()).expect("it is one");
    assert_eq!(own.title, named("raid0:2xcrucial-m4-64gb").title);
    assert_ne!(own.members[0].hash(), own.members[1].hash(), "they vary each in its own way");
    // What makes it elsewhere is all in the file that was read.
    let file = ArrayFile::of_text(text.into(), "mine.toml", folder.path()).expect("of several");
    let file = file.expect("it is one");
    drop(folder);
    assert_eq!(file.profile(None, &[]).expect("the same").hash(), own.hash());
    let bare = ArrayFile { profiles: Vec::new(), ..file };
    let why = bare.profile(None, &[]).expect_err("its drive is not there").to_string();
    assert!(why.starts_with("mine.toml, line 4: own.toml: "), "{why}");
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    for (old, new, line, said) in [
        ("\"raid5\"", "\"raid6\"", 1, "kind = \"raid6\": there are concat, raid0"),
        ("\"64 KiB\"", "\"12 KiB\"", 2, "chunk = \"12 KiB\" must be a power of two from \"4 KiB\""),
        ("\"64 KiB\"", "65536", 2, "chunk = 65536 must be a power of two"),
        ("chunk", "chnk", 2, "has no key \"chnk\"; did you mean chunk?"),
        ("false", "\"no\"", 3, "trim = \"no\" must be true or false"),
        ("failed = 2", "failed = 0", 4, "failed = 0 must be a whole number from 1 to 64"),
        ("50 MB/s", "50", 5, "rebuild = \"50\" must be a rate from"),
        ("failed = 2\n", "", 4, "say which, for example failed = 1"),
        ("m4-64gb", "m4-64g", 7, "did you mean \"crucial-m4-64gb\""),
        ("number = 3", "number = 99", 8, "number = 99 must be a whole number from 1 to 64"),
        ("number", "count", 8, "a [[drive]] has no key \"count\""),
        ("name = \"crucial-m4-64gb\"\n", "", 6, "give one of both"),
        ("name", "file", 7, "crucial-m4-64gb: cannot read the profile"),
    ] {
        let why = of(&ARRAY.replacen(old, new, 1)).expect_err(new);
        assert!(why.starts_with(&format!("mine.toml, line {line}: ")), "{why}");
        assert!(why.contains(said) && !why.contains('\n'), "{why}");
    }
    for (old, new, said) in [
        ("\"20 %\"", "\"120 %\"", "must be a share of the SSD from \"0 %\" to \"100 %\""),
        ("\"off\"", "\"long\"", "bypass = \"long\" must be a length such as \"4 MiB\", or \"off\""),
        ("\"16 KiB\"", "\"1 MiB\"", "\"4 KiB\" to \"256 KiB\""),
        ("\"write-back\"", "\"writeback\"", "did you mean \"write-back\"?"),
        ("\"warm\"", "\"hot\"", "start = \"hot\": there are cold, warm"),
        ("[disk]", "[dsk]", "the table [disk] is missing"),
        ("crucial-m4-64gb", "wd-velociraptor-300gb", "the first drive is the cache, an SSD"),
    ] {
        let why = of(&CACHE_TEXT.replacen(old, new, 1)).expect_err(new);
        assert!(why.starts_with("mine.toml, line ") && why.contains(said), "{why}");
    }
    let few = of(&ARRAY.replace("number = 3", "number = 2")).expect_err("too few");
    assert_eq!(few, "mine.toml: raid5 of 2 drives: it takes 3 to 64");
    let none = of("kind = \"raid0\"\n").expect_err("no drive");
    assert!(none.contains("[[drive]] is missing"), "{none}");
}

#[test]
fn a_file_of_a_drive_is_left_to_who_reads_drives() {
    let is_of_one =
        |text: &str| ArrayFile::of_text(text.into(), "mine.toml", Path::new("")).is_none();
    for name in ["crucial-m4-64gb", "wd-velociraptor-300gb"] {
        let text = catalogue::built_in(name, &[]).expect("it is built in").to_toml();
        assert!(is_of_one(&text), "{name}");
    }
    for text in ["", "kind = 3", "kind = \"sdd\"", "not = [toml", "[array]\nkind = \"raid0\""] {
        assert!(is_of_one(text), "{text}");
    }
    // Control.
    assert!(!is_of_one(ARRAY) && !is_of_one("kind = \"raid6\"") && !is_of_one("kind = \"cash\""));
    assert!(ArrayFile::read(Path::new("/nowhere/mine.toml")).is_none());
}

#[test]
fn the_examples_are_arrays_and_caches_that_open() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../arrays");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder of examples") {
        let path = entry.expect("a file").path();
        let typed = path.display().to_string();
        let found = ArrayProfile::find(&typed, None, &[]).expect("it is of several");
        let found = found.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(found.drive().geometry().bytes(), found.geometry().bytes(), "{typed}");
        assert_eq!(path.file_stem().and_then(|it| it.to_str()), Some(found.name.as_str()));
        names.push(found.name);
    }
    assert!(names.len() >= 3, "{names:?}");
}
