//! What the energy of a replay means for a notebook.

use fourcorners_drive::Nanos;
use fourcorners_record::note::note;
use fourcorners_record::{Note, ReplayFigure};
use fourcorners_words::three_digits;

/// The battery of a notebook, watt hours, and what the rest of it draws with its display on and little to do, watts:
/// assumed, as round numbers of a 14-inch notebook. A reader with other ones works with the watts of the drive.
const BATTERY_WH: f64 = 50.0;
const REST_W: f64 = 8.0;

/// Think time that is cut at this or more is whole: `--idle-cap` takes no more.
pub(super) const ALL_PAUSES: Nanos = Nanos::from_secs(3600);

/// Energy and mean power of a replay with its pauses, and how long a battery lasts at that. A drive that is done sooner
/// is idle sooner, and that is in it.
pub(super) fn said(name: &str, figure: &ReplayFigure) -> Option<Note> {
    let joules = figure.joules.filter(|_| figure.complete && figure.elapsed_s > 0.0)?;
    let watts = joules / figure.elapsed_s;
    let text = format!(
        "{name}: {} J in {} s with all pauses, {} W on average. A notebook with a battery of {BATTERY_WH} Wh that \
         draws {REST_W} W besides its drive would run for {:.1} hours.",
        three_digits(joules),
        three_digits(figure.elapsed_s),
        three_digits(watts),
        BATTERY_WH / (REST_W + watts)
    );
    Some(note("battery", text, watts))
}
