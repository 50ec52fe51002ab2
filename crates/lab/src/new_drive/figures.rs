//! The figures of a data sheet in the form of `figures/published.json`, so that the profile can be held against them again.

use fourcorners_catalogue::Profile;
use serde_json::{Value, json};

use super::solve::depth;
use super::{DataSheet, SheetFigure};

impl DataSheet {
    /// Its figures as a list, for `validate --figures`; `profile` is the drive that was made of it.
    pub fn figures(&self, profile: &Profile) -> String {
        let all: Vec<String> =
            self.wanted.iter().map(|wanted| self.figure(*wanted, profile).to_string()).collect();
        format!("[\n  {}\n]\n", all.join(",\n  "))
    }

    fn figure(&self, (figure, value): (SheetFigure, f64), profile: &Profile) -> Value {
        let (id, pattern, metric, value) = match figure {
            SheetFigure::ReadLatency => ("qd1-read", "random read", "avg_latency_ms", value / 1e3),
            SheetFigure::Read => ("read", "sequential read", "MB/s", value),
            SheetFigure::Write => ("write", "sequential write", "MB/s", value),
            SheetFigure::ReadIops => ("read-iops", "random read", "IOPS", value),
            SheetFigure::WriteIops => ("write-iops", "random write", "IOPS", value),
        };
        let block_size = if pattern.starts_with("random") { 4096 } else { 131_072 };
        json!({
            "id": format!("{}-{id}", self.name),
            "drive": self.name,
            "capacity_gb": self.capacity_bytes as f64 / 1e9,
            "test": { "pattern": pattern, "block_size": block_size, "span_gb": 1 },
            "metric": metric,
            "value": value,
            "source": self.source.as_deref().unwrap_or("data sheet"),
            "confidence": "datasheet",
            "kind": "spec",
            "reading": { "drive": { "id": self.name }, "depth": depth(figure, profile) },
        })
    }
}
