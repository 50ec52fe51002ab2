//! What each method measures, in a line.

use super::Method;

impl Method {
    /// What it measures, or a `quick` review does of it, for a list of methods.
    pub fn measures(self, quick: bool) -> &'static str {
        match self {
            Method::FourCorners if quick => {
                "4 KiB random and 128 KiB sequential, reads and writes, fresh"
            }
            Method::FourCorners => {
                "4 KiB random and 128 KiB sequential, reads and writes, fresh and used"
            }
            Method::Toms => "4 KiB random reads and writes at queue depths from 1 to 32",
            Method::Consistency => {
                "random writes to a full drive second by second, with and without spare area"
            }
            Method::LbaPass => "sequential reads and writes at up to 200 places across the drive",
            Method::Trim => "whether TRIM restores a drive that was written at random",
            Method::UsedState => "random writes to a fresh and to a used drive",
            Method::Compressible => "writes of data that compresses by 0 to 100 %",
            Method::FillLevel => "random writes at 10 to 100 % full: how full is too full",
            Method::TrimUnderLoad => {
                "reads, writes and a copy during a large TRIM: whether it delays them"
            }
            Method::TrimReaches => "whether a TRIM reaches the drive at all",
            Method::StorageBench => {
                "the published workloads of 2011 and 2013, on an empty and on a full drive"
            }
            Method::Tasks => {
                "booting, loading, copying, installing: what a person waits for, in seconds"
            }
            Method::Endurance => "write amplification, and how long flash and data last",
            Method::Power => "power idle and at work, MB/s a watt, energy of a task",
            Method::SyncWrites => "4 KiB writes, each durable before the next, by 1, 5 and 10 jobs",
            Method::Snia => "steady state, 56 mixes and sizes, latency, write saturation",
            Method::Quick => {
                "the rows of CrystalDiskMark and KDiskMark, and synchronous writes, in a minute"
            }
        }
    }
}
