//! The names of caches: `cache:SSD+DISK`, and what differs from the usual.

use fourcorners_array::{CacheConfig, CacheMode, Replacement};
use fourcorners_catalogue::Profile;

use super::ArrayKind;
use super::makeup::{Drives, Makeup, Source};
use super::name::{ArrayNameError, Said, chunk_bytes};

/// What a name of a cache begins with.
pub(super) const CACHE: &str = "cache";

/// What follows the drives in a name.
const OPTIONS: &str = "is not known there: read-only, write-through or write-back, lru or 2q, a block such as 64k, \
                       dirty=40%, bypass=4m or bypass=off, cold or warm, and no-trim are";

/// The cache of a name, of which this is what follows `cache:`.
pub(super) fn parse(name: &str, rest: &str) -> Result<Makeup, ArrayNameError> {
    let wrong = |part: &str, must: &str| ArrayNameError::of_part(name, part, must);
    let mut parts = rest.split(':');
    let drives = parts.next().unwrap_or_default();
    let (ssd, disk) = match drives.split_once('+') {
        Some((ssd, disk)) if !disk.contains('+') => (ssd, disk),
        _ => return Err(wrong(drives, "is not an SSD and a disk: give both, joined by +")),
    };
    let one =
        |drive: &str| Drives { number: 1, source: Source::Catalogue(drive.into()), line: None };
    let mut config = CacheConfig::default();
    let mut said = Said::default();
    let mut dirty = None;
    for part in parts {
        let mode = CacheMode::ALL.into_iter().find(|mode| mode.name() == part);
        let replacement = Replacement::ALL.into_iter().find(|it| it.name() == part);
        let mut once = |what| said.once(what).map_err(|must| wrong(part, &must));
        dirty = dirty.or(Some(part).filter(|part| part.starts_with("dirty=")));
        match (part, mode, replacement) {
            (_, Some(mode), _) => {
                once("how it writes")?;
                config.mode = mode;
            }
            (_, _, Some(replacement)) => {
                once("what is replaced")?;
                config.replacement = replacement;
            }
            ("no-trim", ..) => {
                once("that there is no TRIM")?;
                config.trim = false;
            }
            ("cold" | "warm", ..) => {
                once("whether it is warm")?;
                config.warm = part == "warm";
            }
            _ => once(value(&mut config, part).map_err(|must| wrong(part, must))?)?,
        }
    }
    if let Some(part) = dirty.filter(|_| config.mode != CacheMode::WriteBack) {
        return Err(wrong(part, "is for write-back: no other cache has what the disk lacks"));
    }
    Ok(Makeup {
        place: name.into(),
        name: name.into(),
        title: None,
        kind: ArrayKind::Cache(config),
        drives: vec![one(ssd), one(disk)],
    })
}

/// A part of a name with a number in it: what it says.
fn value(config: &mut CacheConfig, part: &str) -> Result<&'static str, &'static str> {
    if let Some(share) = part.strip_prefix("dirty=") {
        let percent = share.trim_end_matches('%').parse::<f64>().ok();
        let share = percent.map(|percent| percent / 100.0).filter(|it| (0.0..=1.0).contains(it));
        config.dirty_share = share.ok_or("is no share of the SSD from 0 to 100 %")?;
        Ok("how much of it is dirty")
    } else if let Some(bytes) = part.strip_prefix("bypass=") {
        config.bypass_bytes = match bytes {
            "off" => 0,
            bytes => chunk_bytes(bytes).ok_or("is no length: give one such as 4m, or off")?,
        };
        Ok("what goes past it")
    } else {
        config.block_bytes = chunk_bytes(part).ok_or(OPTIONS)?;
        Ok("how long its blocks are")
    }
}

/// "Crucial m4 64 GB as a write-through cache of WD VelociRaptor 300 GB", and what is not usual.
pub(super) fn title(config: &CacheConfig, members: &[Profile]) -> String {
    let usual = CacheConfig::default();
    let mut title =
        format!("{} as a {} cache of {}", members[0].title, config.mode.name(), members[1].title);
    if config.replacement != usual.replacement {
        title += &format!(", {}", config.replacement.name().to_uppercase());
    }
    if config.block_bytes != usual.block_bytes {
        title += &format!(", blocks of {} KiB", config.block_bytes >> 10);
    }
    if config.mode == CacheMode::WriteBack && config.dirty_share != usual.dirty_share {
        title += &format!(", {:.0} % dirty", config.dirty_share * 100.0);
    }
    match config.bypass_bytes {
        0 => title += ", no bypass",
        bytes if bytes != usual.bypass_bytes => {
            title += &format!(", bypass from {} KiB on", bytes >> 10);
        }
        _ => {}
    }
    if config.warm {
        title += ", warm";
    }
    if !config.trim {
        title += ", no TRIM";
    }
    title
}

#[cfg(test)]
mod tests {
    use super::super::ArrayProfile;
    use super::*;

    const NAME: &str = "cache:crucial-m4-64gb+wd-velociraptor-300gb";

    fn of(options: &str) -> Result<ArrayProfile, String> {
        let name = format!("{NAME}{options}");
        let parsed = ArrayProfile::parse(&name, None, &[]).expect("the name of a cache");
        parsed.map_err(|error| error.to_string())
    }

    #[test]
    fn a_name_says_what_is_in_front_of_what() {
        let usual = of("").expect("it is one");
        assert_eq!(usual.kind, ArrayKind::Cache(CacheConfig::default()));
        assert_eq!(
            usual.title,
            "Crucial m4 64 GB as a write-through cache of WD VelociRaptor 300 GB"
        );
        assert_eq!(usual.geometry().bytes(), usual.members[1].capacity_bytes());
        assert!(!usual.is_flash() && usual.memory_bytes() > 64 << 20);
        let all = of(":write-back:2q:16k:dirty=20%:bypass=off:warm:no-trim").expect("it is one");
        assert!(
            all.title
                .ends_with("300 GB, 2Q, blocks of 16 KiB, 20 % dirty, no bypass, warm, no TRIM"),
            "{}",
            all.title
        );
        let hash = |it: &ArrayProfile| it.target_info(it.geometry()).profile_hash;
        assert_ne!(hash(&usual), hash(&all));
        assert_eq!(hash(&usual), hash(&of(":cold:lru:bypass=4m").expect("it is one")));
    }

    #[test]
    fn what_makes_none_names_the_part() {
        let told = |options: &str| of(options).expect_err("it is none");
        assert!(told(":writeback").contains("\"writeback\" is not known there: read-only"));
        assert!(told(":12k").contains("a power of two from 4k to 256k"));
        assert!(told(":dirty=120%").contains("from 0 to 100 %"));
        assert!(told(":bypass=long").contains("such as 4m, or off"));
        for twice in [
            ":read-only:write-back",
            ":4k:8k",
            ":lru:2q",
            ":warm:cold",
            ":write-back:dirty=1%:dirty=2%",
        ] {
            assert!(told(twice).contains("a second time: leave one"), "{twice}");
        }
        assert!(told(":dirty=20%").contains("is for write-back"));
        assert!(told(":4k:wrte-back").contains("is not known there"), "no repetition");
        let named = |name: &str| {
            let parsed = ArrayProfile::parse(name, None, &[]).expect("the name of a cache");
            parsed.expect_err("it is none").to_string()
        };
        assert!(named("cache:crucial-m4-64gb").contains("joined by +"));
        assert!(named("cache:wd-velociraptor-300gb+crucial-m4-64gb").contains("the cache, an SSD"));
        assert!(named("cache:crucial-m4-64g+wd-velociraptor-300gb").contains("did you mean"));
        assert!(named("cash:crucial-m4-64gb+wd-velociraptor-300gb").contains("did you mean cache"));
    }
}
