//! The parts of a drive as far as they are known: what the picture is drawn of.

use fourcorners_record::diagnosis::{Diagnosis, Finding, Standing};

use super::words::{NOT_KNOWN, interval_words, value_words};

/// How far a part is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Known {
    /// Drawn solid.
    Determined,
    /// Drawn hatched.
    Bound,
    /// Drawn dotted.
    Unknown,
}

impl Known {
    /// The class of the style sheet.
    pub(super) fn class(self) -> &'static str {
        match self {
            Known::Determined => "known",
            Known::Bound => "bound",
            Known::Unknown => "unknown",
        }
    }
}

/// A part, and what was found of it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Part {
    /// What it is called.
    pub(super) name: &'static str,
    /// How far it is known.
    pub(super) known: Known,
    /// What it is, or that it is not known.
    pub(super) value: String,
    /// Where the value lies, and how probably; or that nobody looked.
    pub(super) beside: String,
    /// The value where it is a number that is determined.
    pub(super) number: Option<f64>,
}

impl Part {
    fn of(diagnosis: &Diagnosis, name: &'static str, key: &str) -> Part {
        let unknown = |beside: &str| Part {
            name,
            known: Known::Unknown,
            value: NOT_KNOWN.into(),
            beside: beside.into(),
            number: None,
        };
        let Some(finding) = diagnosis.findings.iter().find(|it| it.key == key) else {
            return unknown("not looked for");
        };
        let (Some(value), Some(known)) = (value_words(finding), known(finding)) else {
            return unknown("");
        };
        let beside = interval_words(finding);
        Part { name, known, value, beside, number: finding.determined().filter(|it| *it > 0.0) }
    }

    /// What is said of it to those who do not see it.
    pub(super) fn said(&self) -> String {
        match self.beside.as_str() {
            "" => format!("{}: {}", self.name, self.value),
            beside => format!("{}: {}, {beside}", self.name, self.value),
        }
    }
}

fn known(finding: &Finding) -> Option<Known> {
    match finding.standing {
        Standing::Determined => Some(Known::Determined),
        Standing::Bound => Some(Known::Bound),
        Standing::Undetermined => None,
    }
}

/// All parts, in the order in which a write comes to them.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Parts {
    pub(super) link: Part,
    pub(super) kind: Part,
    pub(super) read_ahead: Part,
    pub(super) trim: Part,
    pub(super) trim_holds_up: Part,
    pub(super) compression: Part,
    pub(super) ratio: Part,
    pub(super) map: Part,
    pub(super) buffer: Part,
    pub(super) slc: Part,
    pub(super) page: Part,
    pub(super) row: Part,
    pub(super) page_kinds: Part,
    pub(super) map_unit: Part,
    pub(super) mapping: Part,
    pub(super) suspension: Part,
    pub(super) dies: Part,
    pub(super) channels: Part,
    pub(super) spare: Part,
    pub(super) amplification: Part,
    /// The share of the drive that the map reaches, if both are known.
    pub(super) map_share: Option<f64>,
    /// Pages in a row, if both are known.
    pub(super) pages_in_row: Option<usize>,
    /// The share of the flash that is spare, if it is known.
    pub(super) spare_share: Option<f64>,
}

/// Most pages of a row that are drawn one by one.
const MOST_PAGES: f64 = 16.0;

impl Parts {
    pub(super) fn of(diagnosis: &Diagnosis) -> Parts {
        let part = |name, key| Part::of(diagnosis, name, key);
        let (page, row) = (part("page", "page_bytes"), part("row", "row_bytes"));
        let map = part("map in memory reaches", "map_reach_gib");
        let spare = part("spare, of the user's space", "spare_percent");
        let in_row = page.number.zip(row.number).map(|(page, row)| row / page);
        let whole = in_row.filter(|it| it.fract() == 0.0 && (1.0..=MOST_PAGES).contains(it));
        Parts {
            link: part("link", "link_mb_per_s"),
            kind: part("kind", "kind"),
            read_ahead: part("read-ahead", "read_ahead"),
            trim: part("TRIM", "trim"),
            trim_holds_up: part("reads wait for it", "trim_holds_up_reads"),
            compression: part("compression", "compression"),
            ratio: part("ratio", "compression_ratio"),
            map_share: map_share(diagnosis, &map),
            map,
            buffer: part("write buffer", "write_buffer_kib"),
            slc: part("SLC cache", "slc_cache_mib"),
            page,
            row,
            page_kinds: part("page kinds", "page_kinds"),
            map_unit: part("map unit", "map_unit_bytes"),
            mapping: part("maps by", "mapping"),
            suspension: part("suspension", "suspension"),
            dies: part("dies", "dies"),
            channels: part("channels", "channels"),
            // What the user has is all but the spare.
            spare_share: spare.number.map(|percent| percent / (100.0 + percent)),
            spare,
            amplification: part("write amplification", "write_amplification"),
            pages_in_row: whole.map(|it| it as usize),
        }
    }

    /// All of them.
    pub(super) fn all(&self) -> [&Part; 20] {
        [
            &self.link,
            &self.kind,
            &self.read_ahead,
            &self.trim,
            &self.trim_holds_up,
            &self.compression,
            &self.ratio,
            &self.map,
            &self.buffer,
            &self.dies,
            &self.channels,
            &self.page,
            &self.row,
            &self.page_kinds,
            &self.map_unit,
            &self.mapping,
            &self.suspension,
            &self.slc,
            &self.spare,
            &self.amplification,
        ]
    }

    /// Whether the device is known to be of a kind that has no flash to draw. One behind another may have some.
    pub(super) fn has_no_flash(&self) -> bool {
        self.kind.known == Known::Determined && ["disk", "memory"].contains(&&*self.kind.value)
    }
}

/// How much of the largest span that was read the map reaches: that span is all of the drive.
fn map_share(diagnosis: &Diagnosis, map: &Part) -> Option<f64> {
    let evidence = diagnosis.evidence.iter().find(|it| it.detector == "map-reach")?;
    let spans = evidence.series.first().filter(|it| it.can_be())?;
    let all = spans.samples.iter().map(|[span, _]| *span).fold(0.0, f64::max);
    let reach = map.number? * f64::from(1 << 30);
    (all >= 1.0).then(|| (reach / all).clamp(0.02, 1.0))
}

#[cfg(test)]
mod tests {
    use fourcorners_record::diagnosis::Value;

    use super::super::tests::{diagnosis, everything, evidence, nothing};
    use super::*;

    #[test]
    fn a_part_is_as_well_known_as_its_finding_and_no_better() {
        let parts = Parts::of(&diagnosis(everything()));
        let known = |known| parts.all().iter().filter(|it| it.known == known).count();
        assert_eq!(
            [known(Known::Determined), known(Known::Bound), known(Known::Unknown)],
            [17, 1, 2],
            "the link is not looked for, and the ratio is not known"
        );
        assert_eq!(parts.pages_in_row, Some(2));
        assert!(Parts::of(&diagnosis(nothing())).all().iter().all(|it| it.known == Known::Unknown));
        // One that says it is not known stays so, whatever value is left in it.
        let mut left = everything();
        left.iter_mut().for_each(|it| it.standing = Standing::Undetermined);
        let parts = Parts::of(&diagnosis(left));
        assert!(parts.all().iter().all(|it| it.value == NOT_KNOWN && it.number.is_none()));
        assert_eq!(parts.pages_in_row, None);
        // Nor is one that is determined and has no value.
        let empty = Finding { value: None, ..everything().swap_remove(8) };
        assert_eq!(Parts::of(&diagnosis(vec![empty])).buffer.known, Known::Unknown);
    }

    #[test]
    fn the_map_is_a_share_of_the_largest_span_that_was_read() {
        let gib = f64::from(1 << 30);
        let reach = Finding::number("map_reach_gib", 16.0, "GiB", [15.0, 17.0]);
        let mut it = diagnosis(vec![reach]);
        assert_eq!(Parts::of(&it).map_share, None);
        let spans = vec![[16.0 * gib, 50.0], [64.0 * gib, 60.0]];
        it.evidence.push(evidence("map-reach", vec![spans, Vec::new()]));
        assert_eq!(Parts::of(&it).map_share, Some(0.25));
        it.findings[0].value = Some(Value::Number(-1.0));
        assert_eq!(Parts::of(&it).map_share, None);
    }

    #[test]
    fn a_disk_has_no_flash_and_what_is_not_known_may_have() {
        let of = |finding| Parts::of(&diagnosis(vec![finding])).has_no_flash();
        assert!(of(Finding::class("kind", "disk", "")));
        assert!(of(Finding::class("kind", "memory", "")));
        assert!(!of(Finding::class("kind", "ssd", "")));
        assert!(!of(Finding::class("kind", "layered", "")));
        assert!(!of(Finding::undetermined("kind", "")));
    }
}
