//! What the record of a virtual drive says of it.

use fourcorners_catalogue::{Model, Profile};
use fourcorners_drive::Geometry;
use fourcorners_drive::config::{FlashSection, PortTrim, SsdConfig};
use fourcorners_record::{FlashRating, HostTrim, Retention, TargetInfo, TargetKind, Variation};

/// What the record of a virtual drive of this geometry says of it, as long as it is new.
pub fn target_info(profile: &Profile, geometry: Geometry) -> TargetInfo {
    TargetInfo {
        name: profile.name.clone(),
        title: profile.title.clone(),
        kind: TargetKind::Virtual,
        capacity_bytes: geometry.bytes(),
        logical_block_bytes: geometry.logical_block_bytes,
        direct: None,
        model: None,
        serial: None,
        firmware: None,
        profile_hash: Some(profile.hash()),
        rated_cycles: match &profile.model {
            Model::Ssd(ssd) => rated_cycles(ssd),
            Model::Hdd(_) => None,
        },
        flash: match &profile.model {
            Model::Ssd(ssd) => ssd.flash.as_ref().map(flash_rating),
            Model::Hdd(_) => None,
        },
        fitted: profile.fitted(),
        variation: variation(profile),
        set: profile.set.clone(),
        host_controller: profile.host_controller.clone(),
        host_trim: profile.host_trim.map(host_trim),
        loaded_state: None,
    }
}

/// Whether its times vary, and whether anything of how was fitted to it.
fn variation(profile: &Profile) -> Option<Variation> {
    let Model::Ssd(ssd) = &profile.model else { return None };
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
