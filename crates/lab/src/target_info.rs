//! What the record of a virtual drive says of it.

use fourcorners_catalogue::{Model, Profile};
use fourcorners_drive::Geometry;
use fourcorners_drive::config::{FlashSection, PortTrim, SsdConfig};
use fourcorners_record::{FlashRating, HostTrim, Retention, TargetInfo, TargetKind, Variation};

/// What the record of a virtual drive of this geometry says of it, as long as it is new.
pub fn target_info(profile: &Profile, geometry: Geometry) -> TargetInfo {
    let ssd = match &profile.model {
        Model::Ssd(ssd) => Some(ssd),
        Model::Hdd(_) => None,
    };
    TargetInfo {
        title: profile.title.clone(),
        profile_hash: Some(profile.hash()),
        rated_cycles: ssd.and_then(|ssd| rated_cycles(ssd)),
        flash: ssd.and_then(|ssd| ssd.flash.as_ref().map(flash_rating)),
        fitted: profile.fitted(),
        variation: ssd.and_then(|ssd| variation(ssd, profile)),
        set: profile.set.clone(),
        host_controller: profile.host_controller.clone(),
        host_trim: profile.host_trim.map(host_trim),
        ..TargetInfo::new(
            profile.name.clone(),
            TargetKind::Virtual,
            geometry.bytes(),
            geometry.logical_block_bytes,
        )
    }
}

/// Whether its times vary, and whether anything of how was fitted to it.
fn variation(ssd: &SsdConfig, profile: &Profile) -> Option<Variation> {
    ssd.variation_that_is_on()?;
    let fitted = profile.fitted().iter().any(|key| key.starts_with("variation."));
    Some(if fitted { Variation::Fitted } else { Variation::Inferred })
}

fn host_trim(trim: PortTrim) -> HostTrim {
    match trim {
        PortTrim::Passed => HostTrim::Passed,
        PortTrim::Dropped => HostTrim::Dropped,
        PortTrim::Refused => HostTrim::Refused,
        PortTrim::Unknown => HostTrim::Unknown,
    }
}

/// The cycles that its blocks bear in the model, else those that its flash is rated for.
pub(crate) fn rated_cycles(ssd: &SsdConfig) -> Option<u32> {
    let modelled = ssd.wear.as_ref().map(|wear| wear.endurance_cycles);
    let rated = || ssd.flash.as_ref()?.rated_cycles;
    modelled.or_else(rated)
}

fn flash_rating(flash: &FlashSection) -> FlashRating {
    let retention = || {
        Some(Retention {
            days: flash.retention_days?,
            celsius: flash.retention_celsius?,
            activation_ev: flash.activation_ev?,
        })
    };
    FlashRating {
        cells: flash.cells.name().into(),
        rated_tb: flash.rated_tb,
        retention: retention(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourcorners_catalogue::{built_in, from_text_behind};

    #[test]
    fn variation_is_told_where_there_is_any_and_fitted_only_where_a_value_of_it_is() {
        let told = |profile: &Profile| target_info(profile, profile.geometry()).variation;
        let named = |name: &str, set: &[&str]| {
            let set: Vec<String> = set.iter().map(ToString::to_string).collect();
            built_in(name, &set).expect("it is built in")
        };
        let m4 = named("crucial-m4-256gb", &[]);
        assert_eq!(told(&m4), Some(Variation::Inferred));
        assert_eq!(told(&named("crucial-m4-256gb", &["variation.mode=off"])), None);
        assert_eq!(told(&named("wd-velociraptor-300gb", &[])), None);
        // The same drive with one of its values measured.
        let text = m4.to_toml();
        let [inferred, fitted] = ["inferred", "fitted"]
            .map(|standing| format!("read_spread = {{ value = 0.015, standing = \"{standing}\""));
        assert!(text.contains(&inferred), "{text}");
        let measured = from_text_behind(&text.replace(&inferred, &fitted), "mine.toml", None, &[]);
        assert_eq!(told(&measured.expect("a profile")), Some(Variation::Fitted));
    }
}
