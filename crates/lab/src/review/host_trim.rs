//! A drive behind a host controller of which nobody has shown what it does with a TRIM: what is seen of the
//! drive holds for the drive alone.

use fourcorners_record::{HostTrim, Outcome, Record};

use super::difference::left_open;

/// Leaves open what hangs on the controller. That nothing comes of a TRIM, or that it holds nothing up, is
/// true of the drive whatever the controller does.
pub(super) fn conclude(record: &mut Record) {
    if record.target.host_trim != Some(HostTrim::Unknown) {
        return;
    }
    let why = format!(
        "no source says whether {} passes TRIM on; if you know, set ports.trim in a copy of its profile",
        record.target.host_controller.as_deref().unwrap_or("the host controller")
    );
    let all = std::mem::take(&mut record.verdicts);
    let with_effect = [Outcome::Yes, Outcome::Partly];
    record.verdicts = all
        .into_iter()
        .map(|verdict| match verdict.id.starts_with("trim-") {
            true => left_open(verdict, &with_effect, &why),
            false => verdict,
        })
        .collect();
}
