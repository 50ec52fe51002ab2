//! One test, one number: a row of the fidelity table is what its command measures.

use fourcorners_catalogue::built_in;
use fourcorners_lab::campaign::Unwatched;
use fourcorners_lab::drive::Drive;
use fourcorners_lab::review::{
    DriveSource, Medium, Past, Protocol, Reviewed, Scope, plans, review,
};
use fourcorners_lab::target_info::target_info;
use fourcorners_lab::validate::{self, Drives, PublishedFigure, validate};

/// The numbers that `fourcorners review NAME --set SET --methods ID` prints.
fn reviewed(id: &str, name: &str, set: &[String]) -> Vec<f64> {
    let profile = built_in(name, set).expect("it is built in");
    let figure = PublishedFigure::named(id).expect("it is a figure");
    let published = figure.on(&profile).expect("it can be run");
    let protocol = Protocol::Published(published.into());
    let geometry = profile.geometry();
    let medium = Medium::Ssd;
    let scope = Scope { seed: 9, ..Scope::whole_of(geometry, medium) };
    let plan = plans(std::slice::from_ref(&protocol), &scope).expect("it fits").remove(0);
    let reviewed = Reviewed {
        protocol,
        plan,
        scope,
        target: target_info(&profile, geometry),
        host: None,
        author: None,
        health: None,
        erase: None,
    };
    let drive = &mut Drive::from_profile(&profile);
    let record =
        review(reviewed, &mut DriveSource::One(drive, &mut Past::default()), None, &mut Unwatched);
    let said = record.notes.iter().filter(|note| note.about == "published");
    said.filter_map(|note| note.value).collect()
}

#[test]
fn a_row_of_the_fidelity_table_is_what_its_command_measures() {
    // Swept, fresh, used once (a ratio to fresh), steady, trimmed; without the write cache, and a
    // percentile that records have no name for.
    for (id, name, set) in [
        ("m029", "crucial-m4-64gb", vec!["link.gbps=3".to_string()]),
        ("m042", "intel-x25-m-g2-160gb", vec![]),
        ("m044", "intel-x25-m-g2-160gb", vec![]),
        ("m015", "crucial-m4-256gb", vec![]),
        ("y005", "samsung-840-evo-250gb", vec![]),
        ("n058", "intel-optane-p4800x-375gb", vec![]),
    ] {
        let all = validate::built_in();
        let figure = all.iter().find(|figure| figure.id == id).expect("it is a figure");
        let row = validate(std::slice::from_ref(figure), &Drives::of_catalogue(), (1, &|_| true))
            .figures
            .remove(0);
        let simulated = row.simulated.and_then(|it| it.as_f64()).expect("it was run");
        let numbers = reviewed(id, name, &set);
        let number = match &numbers[..] {
            [one] => *one,
            [one, of] => one / of,
            other => panic!("{id}: {other:?}"),
        };
        assert!((number / simulated - 1.0).abs() < 1e-3, "{id}: {number} {simulated}");
        let set: Vec<String> = set.iter().map(|set| format!(" --set {set}")).collect();
        let command = format!("fourcorners review {name}{} --methods {id}", set.concat());
        assert_eq!(row.commands, [command]);
    }
}

#[test]
fn a_figure_on_another_host_or_of_no_test_says_what_to_do() {
    let on = |id: &str, name: &str| {
        let profile = built_in(name, &[]).expect("it is built in");
        PublishedFigure::named(id).expect("it is a figure").on(&profile)
    };
    let refused = on("m029", "crucial-m4-64gb").expect_err("it was measured at 3 Gb/s");
    assert!(refused.contains("--set link.gbps=3"), "{refused}");
    // On a drive that it is not about it is the same test.
    assert!(on("m029", "intel-x25-e-32gb").is_ok());
    assert!(PublishedFigure::named("m000").is_none());
    let none = validate::built_in().into_iter().find(|figure| figure.metric == "shape");
    let none = none.expect("some are described in words");
    let refused = on(&none.id, "crucial-m4-64gb").expect_err("it has no number");
    assert!(refused.contains("described in words"), "{refused}");
}
