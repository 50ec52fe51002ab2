//! The text format of OpenMetrics 1.0 (<https://prometheus.io/docs/specs/om/open_metrics_spec/>).

use std::fmt::{self, Display, Write};

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use fourcorners_serve::Distribution;

/// What the text says it is.
const FORM: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A label and its value.
pub(in crate::web) type Label<'a> = (&'a str, &'a str);

/// Metrics as text, a family after the other.
#[derive(Debug, Default)]
pub(in crate::web) struct Exposition {
    text: String,
}

/// What a family's values are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Only grows, unless the counting began anew.
    Counter,
    Gauge,
    Histogram,
    /// Says in its labels what does not change.
    Info,
    /// One of several states is 1, the others are 0.
    StateSet,
}

/// A value as it is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    Whole(u64),
    Real(f64),
}

impl From<u64> for Number {
    fn from(value: u64) -> Number {
        Number::Whole(value)
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Number {
        Number::Real(value)
    }
}

impl Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Number::Whole(value) => value.fmt(f),
            Number::Real(value) if value.is_nan() => f.write_str("NaN"),
            Number::Real(value) if value.is_infinite() => {
                f.write_str(if value > 0.0 { "+Inf" } else { "-Inf" })
            }
            Number::Real(value) => value.fmt(f),
        }
    }
}

impl Exposition {
    /// Begins a family. What `name` ends with is its unit, if it has one.
    pub(super) fn family<'a>(
        &'a mut self,
        name: &'a str,
        kind: Kind,
        unit: Option<&'a str>,
        help: &'a str,
    ) -> Family<'a> {
        debug_assert!(unit.is_none_or(|unit| name.ends_with(&format!("_{unit}"))), "{name}");
        Family { text: &mut self.text, name, kind, unit, help, begun: false }
    }

    /// The text, with its end.
    fn finish(mut self) -> String {
        self.text.push_str("# EOF\n");
        self.text
    }
}

impl IntoResponse for Exposition {
    fn into_response(self) -> Response {
        ([(CONTENT_TYPE, FORM)], self.finish()).into_response()
    }
}

/// Samples of one name. One without samples is not mentioned.
pub(super) struct Family<'a> {
    text: &'a mut String,
    name: &'a str,
    kind: Kind,
    unit: Option<&'a str>,
    help: &'a str,
    begun: bool,
}

impl Family<'_> {
    /// Adds a sample.
    pub(super) fn sample(mut self, labels: &[Label<'_>], value: impl Into<Number>) -> Self {
        let suffix = match self.kind {
            Kind::Counter => "_total",
            Kind::Info => "_info",
            Kind::Gauge | Kind::StateSet | Kind::Histogram => "",
        };
        self.line(suffix, labels, value.into());
        self
    }

    /// Adds a sample, if there is a value.
    pub(super) fn maybe(self, labels: &[Label<'_>], value: Option<impl Into<Number>>) -> Self {
        match value {
            Some(value) => self.sample(labels, value),
            None => self,
        }
    }

    /// Adds which of `states` it is in.
    pub(super) fn state(mut self, labels: &[Label<'_>], states: &[&str], is: &str) -> Self {
        let name = self.name;
        for state in states {
            let labels = [labels, &[(name, state)]].concat();
            self.line("", &labels, Number::Whole(u64::from(*state == is)));
        }
        self
    }

    /// Adds times, in seconds.
    pub(super) fn times(mut self, labels: &[Label<'_>], times: &Distribution) -> Self {
        for (bound_ns, count) in &times.at_most {
            let bound = Number::Real(*bound_ns as f64 / 1e9).to_string();
            self.line("_bucket", &[labels, &[("le", &bound)]].concat(), (*count).into());
        }
        self.line("_bucket", &[labels, &[("le", "+Inf")]].concat(), times.count.into());
        self.line("_count", labels, times.count.into());
        self.line("_sum", labels, (times.sum_ns as f64 / 1e9).into());
        self
    }

    fn line(&mut self, suffix: &str, labels: &[Label<'_>], value: Number) {
        if !self.begun {
            self.begun = true;
            self.describe();
        }
        let (text, name) = (&mut *self.text, self.name);
        // A String takes everything.
        let _ = write!(text, "{name}{suffix}");
        for (place, (label, of)) in labels.iter().enumerate() {
            let before = if place == 0 { '{' } else { ',' };
            let _ = write!(text, "{before}{label}=\"{}\"", escaped(of));
        }
        let after = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(text, "{after} {value}");
    }

    fn describe(&mut self) {
        let name = self.name;
        let kind = match self.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
            Kind::Info => "info",
            Kind::StateSet => "stateset",
        };
        let _ = writeln!(self.text, "# TYPE {name} {kind}");
        if let Some(unit) = self.unit {
            let _ = writeln!(self.text, "# UNIT {name} {unit}");
        }
        let _ = writeln!(self.text, "# HELP {name} {}", escaped(self.help));
    }
}

/// A text as it stands between quotes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_as_the_specification_has_it() {
        let mut metrics = Exposition::default();
        metrics
            .family("a_bytes", Kind::Counter, Some("bytes"), "what was \"moved\"")
            .sample(&[("of", "x\\y\n\"z\""), ("b", "")], 7_u64)
            .sample(&[], 0.5);
        metrics.family("nothing", Kind::Gauge, None, "is not mentioned").maybe(&[], None::<f64>);
        metrics.family("s", Kind::StateSet, None, "it").state(&[], &["on", "off"], "off");
        let times = Distribution { at_most: vec![(1023, 2)], count: 3, sum_ns: 5_000 };
        metrics.family("t_seconds", Kind::Histogram, Some("seconds"), "it").times(&[], &times);
        let expected = "# TYPE a_bytes counter\n# UNIT a_bytes bytes\n# HELP a_bytes what was \\\"moved\\\"\n\
             a_bytes_total{of=\"x\\\\y\\n\\\"z\\\"\",b=\"\"} 7\na_bytes_total 0.5\n\
             # TYPE s stateset\n# HELP s it\ns{s=\"on\"} 0\ns{s=\"off\"} 1\n\
             # TYPE t_seconds histogram\n# UNIT t_seconds seconds\n# HELP t_seconds it\n\
             t_seconds_bucket{le=\"0.000001023\"} 2\nt_seconds_bucket{le=\"+Inf\"} 3\nt_seconds_count 3\n\
             t_seconds_sum 0.000005\n# EOF\n";
        assert_eq!(metrics.finish(), expected);
    }

    #[test]
    fn numbers_that_are_none_have_the_names_of_the_specification() {
        let text = |value: f64| Number::Real(value).to_string();
        assert_eq!(
            [text(f64::NAN), text(f64::INFINITY), text(f64::NEG_INFINITY), text(-0.25)],
            ["NaN", "+Inf", "-Inf", "-0.25"]
        );
    }
}
