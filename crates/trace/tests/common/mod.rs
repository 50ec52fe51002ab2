//! Where the real traces of others are, for all tests that read or replay them.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part of this")]

use std::path::{Path, PathBuf};

use fourcorners_testing::skipped;

/// The trace of this name, or why there is none.
pub fn trace(name: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("FOURCORNERS_TRACES").map_or(beside, PathBuf::from);
    let path = folder.join(name);
    if !path.is_file() {
        skipped(
            "recorded-traces",
            format!("{name} is not in the folder that FOURCORNERS_TRACES names"),
        );
        return None;
    }
    Some(path)
}

pub const WEBSERVER: &str = "blkreplay-linux-webserver-2.load.gz";
pub const MSSQL: &str = "blkreplay-windows-mssql.load.gz";
pub const VSCSI: &str = "cloudPhysicsIO.vscsi";
