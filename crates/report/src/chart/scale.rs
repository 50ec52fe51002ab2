//! Axes: which values they cover, which of them are named, and where each value stands.

use super::super::words::thousands;
use super::four_digits;

/// Room above the highest value.
const HEADROOM: f64 = 1.06;
/// Steps a linear axis has at least; it may have two and a half times as many.
const FEWEST_STEPS: f64 = 3.5;
/// Most decades of a logarithmic axis: what is lower stands at its foot.
const MOST_DECADES: f64 = 9.0;

/// An axis.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Scale {
    /// What it is of, with its unit; may be empty.
    pub(crate) name: String,
    /// Whether equal steps are equal factors.
    pub(crate) log: bool,
    /// Its two ends; both above 0 where it is logarithmic.
    pub(crate) range: (f64, f64),
    /// The values that are named.
    pub(crate) ticks: Vec<(f64, String)>,
    /// What its values are called in a file of them, where that is not its name; else empty.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) column: &'static str,
}

/// How the values of a chart are drawn first, and how else.
#[derive(Clone, Debug)]
pub(crate) struct Up {
    /// The axis as it is drawn first.
    pub(crate) shown: Scale,
    /// The other one, logarithmic where that is linear.
    pub(crate) other: Option<Scale>,
}

impl Scale {
    /// Equal steps between two values.
    pub(crate) fn linear(name: &str, range: (f64, f64), say: fn(f64) -> String) -> Scale {
        let (low, high) =
            if range.0 < range.1 && (range.1 - range.0).is_finite() { range } else { (0.0, 1.0) };
        let least = (high - low) / FEWEST_STEPS;
        let decade = 10_f64.powf(least.log10().floor());
        let round = [5.0, 2.0, 1.0].map(|part| part * decade);
        let step = round.into_iter().find(|&step| step <= least).unwrap_or(least);
        let first = (low / step).ceil();
        let ticks = (0..12)
            .map(|index| four_digits((first + f64::from(index)) * step))
            .take_while(|&value| value <= high)
            .map(|value| (value, say(value)))
            .collect();
        Scale { name: name.into(), log: false, range: (low, high), ticks, column: "" }
    }

    /// Equal factors between two values above 0.
    pub(crate) fn log(name: &str, range: (f64, f64), say: fn(f64) -> String) -> Scale {
        let positive = range.0 > 0.0 && range.0 < range.1 && range.1.is_finite();
        let (low, high) = if positive { range } else { (1.0, 10.0) };
        let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        // Within two decades the grid of decades alone would say too little.
        let parts: &[f64] = if last - first <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let step = 1 + (last - first) as usize / 10;
        let decades = (first..=last).step_by(step).map(|power| 10_f64.powi(power));
        let edge = 1.0 + 1e-9;
        let ticks = decades
            .flat_map(|decade| parts.iter().map(move |part| four_digits(decade * part)))
            .filter(|value| (low / edge..=high * edge).contains(value))
            .map(|value| (value, say(value)))
            .collect();
        Scale { name: name.into(), log: true, range: (low, high), ticks, column: "" }
    }

    /// Where a value stands between the ends, 0 to 1 of what is inside. What a logarithmic axis has no
    /// place for is at its foot.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        match self.log {
            true => (value.max(low).log10() - low.log10()) / (high.log10() - low.log10()),
            false => (value - low) / (high - low),
        }
    }
}

impl Up {
    /// From 0, or on a logarithmic axis from the decade below the lowest value above 0, to a little
    /// more than the highest.
    pub(crate) fn of(
        name: &str,
        values: impl Iterator<Item = f64>,
        log_first: bool,
        say: fn(f64) -> String,
    ) -> Up {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for value in values.filter(|value| value.is_finite() && *value > 0.0) {
            (low, high) = (low.min(value), high.max(value));
        }
        let top = if high > 0.0 { high * HEADROOM } else { 1.0 };
        let linear = Scale::linear(name, (0.0, top), say);
        if low > high || !top.is_finite() {
            return Up { shown: linear, other: None };
        }
        let highest = top.log10();
        // A range of one value still needs an axis around it.
        let lowest = low.log10().floor().clamp(highest - MOST_DECADES, highest - 0.5);
        // Of many decades the decades alone are named.
        let named: &[f64] =
            if highest.ceil() - lowest > 2.0 { &[1.0, 10.0] } else { &[1.0, 2.0, 5.0, 10.0] };
        let log = Scale::log(name, (10_f64.powf(lowest), round_above(high, named)), say);
        match log_first {
            true => Up { shown: log, other: Some(linear) },
            false => Up { shown: linear, other: Some(log) },
        }
    }
}

/// The next of these parts of a decade, so that a tick stands beyond the highest value.
fn round_above(value: f64, parts: &[f64]) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    let mut round = parts.iter().map(|part| four_digits(part * decade));
    let found = round.find(|round| *round >= value).filter(|round| round.is_finite());
    found.unwrap_or(value * HEADROOM)
}

/// A tick's count: "50,000", "0.5".
pub(crate) fn count_tick(value: f64) -> String {
    match value {
        large if large.abs() >= 1e15 => format!("{large:.0e}"),
        million if million.abs() >= 1e7 => format!("{}M", four_digits(million / 1e6)),
        whole if whole >= 0.0 && whole.fract() == 0.0 => thousands(whole as u64),
        small if small != 0.0 && small.abs() < 1e-4 => format!("{small:e}"),
        other => other.to_string(),
    }
}

/// A tick's time, of microseconds, without places it does not need: "10 ms".
pub(crate) fn time_tick(us: f64) -> String {
    match us {
        us if us >= 0.9995e6 => format!("{} s", four_digits(us / 1e6)),
        us if us >= 999.5 => format!("{} ms", four_digits(us / 1e3)),
        us if us >= 0.9995 || us == 0.0 => format!("{} µs", four_digits(us)),
        us => format!("{} ns", four_digits(us * 1e3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(scale: &Scale) -> Vec<&str> {
        scale.ticks.iter().map(|(_, name)| name.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_and_in_their_own_unit() {
        let linear = Scale::linear("", (0.0, 52_731.0), count_tick);
        assert_eq!(names(&linear), ["0", "10,000", "20,000", "30,000", "40,000", "50,000"]);
        assert_eq!(
            names(&Scale::linear("", (0.0, 1.06), count_tick)),
            ["0", "0.2", "0.4", "0.6", "0.8", "1"]
        );
        let late = Scale::linear("", (1400.0, 2000.0), count_tick);
        assert_eq!(names(&late), ["1,400", "1,500", "1,600", "1,700", "1,800", "1,900", "2,000"]);
        let log = Scale::log("", (1.0, 52_731.0), count_tick);
        assert_eq!(names(&log), ["1", "10", "100", "1,000", "10,000"]);
        assert_eq!(
            names(&Scale::log("", (100.0, 600.0), time_tick)),
            ["100 µs", "200 µs", "500 µs"]
        );
        assert_eq!(
            [0.01, 1.0, 500.0, 1e3, 2e4, 1e6, 1e7].map(time_tick),
            ["10 ns", "1 µs", "500 µs", "1 ms", "20 ms", "1 s", "10 s"]
        );
    }

    #[test]
    fn a_logarithmic_axis_has_a_tick_beyond_the_data() {
        let axis = |values: [f64; 2]| Up::of("", values.into_iter(), true, count_tick).shown;
        let last = |values| names(&axis(values)).last().map(ToString::to_string);
        assert_eq!(last([100.0, 52_707.0]), Some("100,000".into()));
        assert_eq!(last([30.0, 160.0]), Some("200".into()));
        assert_eq!(last([120.0, 1_600_000.0]), Some("10M".into()));
    }

    #[test]
    fn places_are_between_the_ends() {
        let log = Scale::log("", (1.0, 10_000.0), count_tick);
        assert_eq!([0.0, 1.0, 100.0, 10_000.0].map(|value| log.place(value)), [0.0, 0.0, 0.5, 1.0]);
        let linear = Scale::linear("", (10.0, 20.0), count_tick);
        assert_eq!([10.0, 15.0, 20.0].map(|value| linear.place(value)), [0.0, 0.5, 1.0]);
    }

    #[test]
    fn any_values_have_axes() {
        let odd = [f64::NAN, f64::INFINITY, -1.0, 0.0, 5e-324, 1e-300, 1e300, f64::MAX];
        for low in odd {
            for high in odd {
                for scale in [
                    Scale::linear("", (low, high), count_tick),
                    Scale::log("", (low, high), time_tick),
                    Up::of("", [low, high].into_iter(), true, count_tick).shown,
                ] {
                    assert!(scale.range.0 < scale.range.1, "{low} {high}: {scale:?}");
                    assert!(scale.ticks.len() < 40, "{low} {high}: {scale:?}");
                }
            }
        }
        let nothing = Up::of("", [].into_iter(), true, count_tick);
        assert!(!nothing.shown.log && nothing.other.is_none());
    }
}
