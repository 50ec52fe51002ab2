//! How warm a virtual drive was, for a record and in a sentence.

use fourcorners_drive::Nanos;
use fourcorners_record::note::note;
use fourcorners_record::{Health, HealthReading, Heat, Note, Record};

use crate::drive::{Drive, Outcome};

/// What notes about it are about: what those about a real drive's temperature are about.
const THROTTLED: &str = "thermal-throttling";
const NOT_THROTTLED: &str = "temperature";

/// A drive that gets warm, watched from a moment on.
pub(crate) struct HeatWatch {
    throttled: Nanos,
    from: Nanos,
}

impl HeatWatch {
    /// Begins now. `None` for a drive without `[heat]`, and for several drives as one.
    pub(crate) fn begin(drive: &mut Drive) -> Option<HeatWatch> {
        let ssd = drive.ssd_mut()?;
        let throttled = ssd.heat()?.throttled;
        ssd.forget_highest_temperature();
        Some(HeatWatch { throttled, from: drive.now() })
    }

    /// How warm it was from then on.
    pub(crate) fn until_now(&self, drive: &Drive) -> Option<Heat> {
        let now = drive.ssd()?.heat()?;
        Some(Heat {
            highest_c: now.highest_c,
            throttled_s: now.throttled.since(self.throttled).as_secs(),
            seconds: drive.now().since(self.from).as_secs(),
        })
    }
}

/// A drive is about to be measured: how warm it is, once a record.
pub(crate) fn begin(record: &mut Record, drive: &Drive) {
    if record.health.is_none() {
        let before = reading(drive);
        record.health = before.map(|before| Health { before, after: None, heat: None });
    }
}

/// How warm it was in a job that was measured.
pub(crate) fn add(record: &mut Record, outcome: &Outcome) {
    if let (Some(health), Some(heat)) = (&mut record.health, outcome.heat) {
        health.heat = Some(health.heat.map_or(heat, |before| before.and(heat)));
    }
}

/// All is measured: how warm the drive is now, and what it came to.
pub(crate) fn conclude(record: &mut Record, drive: &Drive) {
    if let Some(health) = record.health.as_mut().filter(|health| health.heat.is_some()) {
        health.after = reading(drive);
        record.notes.extend(said(health, drive));
    }
}

/// What a virtual drive would say of its health now, which is its temperature; `None` of one that has none.
fn reading(drive: &Drive) -> Option<HealthReading> {
    let temperature_c = Some(drive.ssd()?.heat()?.temperature_c);
    Some(HealthReading { sources: vec!["model".into()], temperature_c, ..HealthReading::default() })
}

/// What it came to in words: how warm the drive got in what was measured, and for how long that slowed it.
fn said(health: &Health, drive: &Drive) -> Option<Note> {
    let Heat { highest_c, throttled_s, seconds } = health.heat?;
    if throttled_s == 0.0 {
        let text = format!("The drive reached {highest_c:.0} °C (modelled) and did not throttle.");
        return Some(note(NOT_THROTTLED, text, highest_c));
    }
    // Less than a second of a long review is some.
    let throttled =
        if throttled_s < 1.0 { "less than 1".into() } else { format!("{throttled_s:.0}") };
    let sink = drive.ssd().and_then(|ssd| ssd.heat()).is_some_and(|heat| heat.sink_is_left_out);
    let with_sink = if sink { " To fit its heat sink: --set heat.sink=fitted." } else { "" };
    let text = format!(
        "The drive reached {highest_c:.0} °C (modelled) and throttled for {throttled} of the {seconds:.0} s \
         measured.{with_sink}"
    );
    Some(note(THROTTLED, text, highest_c))
}
