//! A diagnosis for people: words for a terminal and a page, from its findings and samples alone.
//!
//! The page draws what is known of a drive, and what is not: a part of which nothing was found is there as well, dotted.
//! Nothing in here knows a profile, so that no part can look better known than its finding is.

mod page;
mod parts;
mod picture;
mod signals;
mod words;

pub use page::diagnosis_page;
pub use words::{finding_words, property_words};

#[cfg(test)]
pub(super) mod tests {
    use fourcorners_record::diagnosis::{Cost, Diagnosis, Evidence, Finding, SCHEMA, Series};

    /// A drive of which these things were found.
    pub(in crate::diagnosis) fn diagnosis(findings: Vec<Finding>) -> Diagnosis {
        Diagnosis {
            schema: SCHEMA.into(),
            target: "a-drive".into(),
            seed: 1,
            findings,
            evidence: Vec::new(),
        }
    }

    /// Samples of a detector.
    pub(in crate::diagnosis) fn evidence(detector: &str, series: Vec<Vec<[f64; 2]>>) -> Evidence {
        Evidence {
            detector: detector.into(),
            series: series
                .into_iter()
                .map(|samples| Series { what: "samples".into(), samples })
                .collect(),
            cost: Cost { gb: 1.25, read_gb: 0.5, minutes: 3.0 },
            stopped: None,
        }
    }

    /// All that the detectors of today look for, with every standing among it.
    pub(in crate::diagnosis) fn everything() -> Vec<Finding> {
        let because = "the times say so";
        let of = |finding: Finding, detector: &str| Finding {
            evidence: detector.into(),
            cost: Cost { gb: 1.25, read_gb: 0.5, minutes: 3.0 },
            ..finding.because(because)
        };
        let number = Finding::number;
        vec![
            of(Finding::class("kind", "ssd", because), "kind"),
            of(number("page_bytes", 8192.0, "bytes", [8192.0, 8192.0]), "row"),
            of(number("row_bytes", 16384.0, "bytes", [16384.0, 16384.0]), "row"),
            of(Finding::count("dies", 16.0), "dies"),
            of(Finding::count("channels", 8.0), "dies"),
            of(number("stripe_bytes", 262_144.0, "bytes", [262_144.0, 262_144.0]), "dies"),
            of(Finding::count("page_kinds", 3.0), "page-kinds"),
            of(Finding::class("read_ahead", "yes", because), "read-ahead"),
            of(number("write_buffer_kib", 496.0, "KiB", [496.0, 512.0]), "write-buffer"),
            of(number("map_unit_bytes", 4096.0, "bytes", [4096.0, 4096.0]), "map-unit"),
            of(Finding::class("suspension", "yes", because), "suspension"),
            of(number("slc_cache_mib", 3072.0, "MiB", [3001.0, 3111.0]), "slc-cache"),
            of(Finding::at_least("map_reach_gib", 238.5, "GiB", because), "map-reach"),
            of(Finding::class("compression", "no", because), "compression"),
            of(Finding::undetermined("compression_ratio", because), "compression"),
            of(Finding::class("mapping", "pages", because), "mapping"),
            of(Finding::undetermined("log_areas", because), "mapping"),
            of(number("spare_percent", 6.25, "%", [5.75, 7.0]), "spare"),
            of(number("write_amplification", 8.25, "", [7.5, 9.0]), "amplification"),
            of(number("move_cost_us", 28.5, "us", [27.0, 30.0]), "amplification"),
            of(Finding::class("trim", "works", because), "trim"),
            of(Finding::class("trim_holds_up_reads", "no", because), "trim"),
        ]
    }

    /// The same keys, and nothing known of any.
    pub(in crate::diagnosis) fn nothing() -> Vec<Finding> {
        let without = |it: Finding| Finding {
            evidence: it.evidence,
            ..Finding::undetermined(&it.key, "the times do not tell")
        };
        everything().into_iter().map(without).collect()
    }
}
