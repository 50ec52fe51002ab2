//! A fuzzer's bytes as a drive and what is asked of it.

use fourcorners_drive::Ssd;

use super::draw::{self, Bytes, Numbers};
use super::mechanisms;
use super::play::play;

/// A drive of more than this is not tried: it would take too long for one attempt.
const MOST_RAW_BYTES: u64 = 1 << 28;

/// Most commands of one attempt.
const MOST_COMMANDS: usize = 20_000;

/// Makes a drive of the first bytes, a quarter of them with a value that may be nonsense, and
/// plays it the commands that the others make. Returns how many; `None` when the profile's check
/// refused the drive.
///
/// # Errors
/// What the drive did wrong.
pub fn attempt(bytes: &[u8]) -> Result<Option<usize>, String> {
    let mut numbers = Bytes(bytes);
    let mut profile = draw::profile(&mut numbers, 4000);
    draw::beyond_the_reference(&mut numbers, &mut profile);
    if numbers.percent(50) {
        mechanisms::add(&mut numbers, &mut profile);
    }
    if numbers.percent(25) {
        match draw::disturb(&mut numbers, &profile) {
            Some(disturbed) => profile = disturbed,
            None => return Ok(None),
        }
    }
    if profile.check().is_err() || profile.raw_bytes() > MOST_RAW_BYTES {
        return Ok(None);
    }
    let depth = numbers.between(1, u64::from(profile.capacity.queue_depth.min(64))) as u32;
    let mut drive = Ssd::new(&profile).map_err(|error| error.to_string())?;
    let sectors = profile.capacity.sectors;
    let more =
        |numbers: &mut Bytes| (!numbers.0.is_empty()).then(|| draw::command(numbers, sectors));
    let commands = std::iter::from_fn(|| more(&mut numbers)).take(MOST_COMMANDS);
    let answers = play(&mut drive, depth, commands)?;
    drive.check_map().map_err(|wrong| wrong.to_string())?;
    Ok(Some(answers.len()))
}
