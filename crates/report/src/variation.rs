//! What a reader has to know of the spread that a virtual drive shows.

use fourcorners_record::{Record, Variation};

/// Where it is known from by how much times vary.
pub(super) fn known_from(how: Variation) -> &'static str {
    match how {
        Variation::Inferred => "modelled, inferred from other drives of its class",
        Variation::Fitted => "modelled, fitted to measurements of this model",
    }
}

/// One sentence for all drives of a review of which times vary; `None` if those of none do.
pub(super) fn sentence(records: &[Record]) -> Option<String> {
    let of = |how: Variation| {
        let mut titles: Vec<&str> = Vec::new();
        for record in records.iter().filter(|record| record.target.variation == Some(how)) {
            if !titles.contains(&record.target.title.as_str()) {
                titles.push(&record.target.title);
            }
        }
        titles
    };
    let (inferred, fitted) = (of(Variation::Inferred), of(Variation::Fitted));
    // With several drives shown, "this" is none of them.
    let is_alone = records.windows(2).all(|two| two[0].target.title == two[1].target.title);
    let about = |titles: &[&str]| match is_alone {
        true => "this drive".to_string(),
        false => titles.join(", "),
    };
    let by_class = "inferred from other drives of the class, not measured on";
    match (inferred.as_slice(), fitted.as_slice()) {
        ([], []) => None,
        (inferred, []) => {
            Some(format!("Variation is modelled: its size is {by_class} {}.", about(inferred)))
        }
        ([], fitted) => Some(format!(
            "Variation is modelled: its size is fitted to measurements of {}.",
            about(fitted)
        )),
        (inferred, fitted) => Some(format!(
            "Variation is modelled: its size is fitted to measurements of {}, and {by_class} {}.",
            fitted.join(", "),
            inferred.join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourcorners_record::from_json;

    fn records(kinds: &[(&str, Option<Variation>)]) -> Vec<Record> {
        let text = include_str!("../../results/tests/golden/review-1.json");
        let document = from_json(text).expect("an old document");
        let one = document.records.first().expect("a record");
        let of = |&(title, variation): &(&str, Option<Variation>)| {
            let mut record = one.clone();
            (record.target.title, record.target.variation) = (title.into(), variation);
            record
        };
        kinds.iter().map(of).collect()
    }

    #[test]
    fn it_says_of_which_drives_the_spread_is_known_and_of_which_it_is_inferred() {
        use Variation::{Fitted, Inferred};
        let told = |kinds: &[_]| sentence(&records(kinds)).unwrap_or_default();
        assert_eq!(told(&[("A", None)]), "");
        let one = told(&[("A", Some(Inferred)), ("A", Some(Inferred))]);
        assert!(one.ends_with("not measured on this drive."), "{one}");
        let one_of_two = told(&[("A", Some(Inferred)), ("A", Some(Inferred)), ("B", None)]);
        assert!(one_of_two.ends_with("not measured on A."), "{one_of_two}");
        let fitted = told(&[("A", Some(Fitted))]);
        assert!(fitted.ends_with("fitted to measurements of this drive."), "{fitted}");
        let both = told(&[("A", Some(Fitted)), ("B", Some(Inferred)), ("C", Some(Inferred))]);
        assert!(both.contains("of A, and inferred") && both.ends_with("on B, C."), "{both}");
    }
}
