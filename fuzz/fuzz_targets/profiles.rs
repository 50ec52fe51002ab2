//! Anything as a profile, alone and behind each host controller: a drive or an error, never a panic;
//! and a drive that is written out is the same when it is read again.
#![no_main]

use fourcorners_catalogue::{from_text_behind, host, host_names};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(profile) = from_text_behind(text, "profile.toml", None, &[]) else { return };
    assert!(profile.capacity_bytes() > 0 && profile.geometry().sectors > 0);
    let again = from_text_behind(&profile.to_toml(), "written.toml", None, &[]);
    let hash = again.map(|again| again.hash()).map_err(|error| error.to_string());
    assert_eq!(hash, Ok(profile.hash()));
    for name in host_names() {
        let host = host(name).expect("it is a known host");
        if let Ok(behind) = from_text_behind(text, "profile.toml", Some(&host), &[]) {
            assert_eq!(behind.capacity_bytes(), profile.capacity_bytes());
        }
    }
});
