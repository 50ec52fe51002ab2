//! fio's options that are no part of a workload here, and its I/O engines.
//!
//! Names are those of fio 3.33 and of its development since (HOWTO.rst of 2025).

/// What is done about an option that has no typed meaning here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Known {
    /// It is about how fio itself works: nothing is different without it.
    Silent,
    /// It would change what is done; said in one warning.
    NoEffect,
    /// The job means nothing without it; why it is refused.
    Refused(&'static str),
    /// The same where it is switched on; as fio's default it is nothing.
    RefusedOn(&'static str),
    /// fio has no such option.
    Unknown,
}

/// What is known of an option.
pub(super) fn option(name: &str) -> Known {
    if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
        return Known::Refused(why);
    }
    if let Some((_, why)) = REFUSED_ON.iter().find(|(refused, _)| *refused == name) {
        return Known::RefusedOn(why);
    }
    match () {
        () if SILENT.contains(&name) => Known::Silent,
        () if NO_EFFECT.contains(&name) => Known::NoEffect,
        () => Known::Unknown,
    }
}

/// Whether a value of an option without effect asks for nothing: it is fio's own default, or
/// switches off what is off there.
pub(super) fn is_default(name: &str, value: &str) -> bool {
    match DEFAULTS.iter().find(|(known, _)| *known == name) {
        Some((_, defaults)) => defaults.contains(&value),
        None => value == "0",
    }
}

/// All names that are known here, for the nearest to a slip.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let refused = REFUSED.iter().chain(REFUSED_ON).map(|(name, _)| *name);
    SILENT.iter().chain(NO_EFFECT).copied().chain(refused)
}

/// What is done to the target, when and how, is the same with and without them. Some are about
/// files and memory that we have none of, some about what a report shows beside the figures.
const SILENT: &[&str] = &[
    "description",
    "thread",
    "threads",
    "mem",
    "iomem",
    "iomem_align",
    "mem_align",
    "hugepage-size",
    "clocksource",
    "gtod_cpu",
    "gtod_reduce",
    "disable_lat",
    "disable_clat",
    "disable_slat",
    "disable_bw_measurement",
    "disable_bw",
    "kb_base",
    "unit_base",
    "significant_figures",
    "job_start_clock_id",
    "random_generator",
    "filetype",
    "create_serialize",
    "create_fsync",
    "create_on_open",
    "allow_mounted_write",
    "fallocate",
    "fadvise_hint",
    "unique_filename",
    "openfiles",
    "disk_util",
    "verify_state_save",
    "log_entries",
    "log_compression",
    "log_compression_cpus",
    "fixedbufs",
    "registerfiles",
    "nonvectored",
    "uncached",
    "cmd_type",
    "userspace_reap",
    "error_dump",
    "norandommap_low",
    "experimental_verify",
    "read_iolog_chunked",
    "file_service_type",
    "cpumode",
];

/// Options whose default in fio is not 0, with the values that come to it.
const DEFAULTS: &[(&str, &[&str])] = &[
    ("allow_file_create", &["1"]),
    ("invalidate", &["1"]),
    // 0 is as many as iodepth, and not none.
    ("iodepth_batch", &["1"]),
    ("iodepth_batch_submit", &["1"]),
    ("iodepth_batch_complete", &["1"]),
    ("iodepth_batch_complete_min", &["1"]),
    // Never below the least.
    ("iodepth_batch_complete_max", &["0", "1"]),
    ("io_submit_mode", &["inline"]),
    ("lockfile", &["none"]),
    ("scramble_buffers", &["1"]),
    ("write_hint", &["none", "0"]),
];

const NO_EFFECT: &[&str] = &[
    "directory",
    "opendir",
    "filename_format",
    "allow_file_create",
    "overwrite",
    "unlink",
    "unlink_each_loop",
    "lockfile",
    "iodepth_batch",
    "iodepth_batch_submit",
    "iodepth_batch_complete",
    "iodepth_batch_complete_min",
    "iodepth_batch_complete_max",
    "io_submit_mode",
    "nowait",
    "force_async",
    "write_hint",
    "priohint",
    "uid",
    "gid",
    // An error ends its own job only, as in fio without this option.
    "exitall_on_error",
    "verify_state_load",
    "log_store_compressed",
    "nrfiles",
    "nr_files",
    "filesize",
    "pre_read",
    "invalidate",
    "lockmem",
    "nice",
    "prio",
    "prioclass",
    "cmdprio_percentage",
    "cmdprio_class",
    "cmdprio",
    "cmdprio_bssplit",
    "ioscheduler",
    "cpus_allowed_policy",
    "numa_mem_policy",
    "cgroup",
    "cgroup_weight",
    "cgroup_nodelete",
    "exec_prerun",
    "exec_postrun",
    "rate_min",
    "ratemin",
    "rate_iops_min",
    "rate_cycle",
    "ratecycle",
    "rate_ignore_thinktime",
    "max_latency",
    "rwmixcycle",
    "thinktime_iotime",
    "thinktime_blocks_type",
    "percentage_sequential",
    "bs_unaligned",
    "blocksize_unaligned",
    "bs_is_seq_rand",
    "serialize_overlap",
    "write_barrier",
    "sync_file_range",
    "end_syncfs",
    "buffer_compress_chunk",
    "dedupe_mode",
    "dedupe_working_set_percentage",
    "dedupe_global",
    "scramble_buffers",
    "trim_percentage",
    "trim_verify_zero",
    "trim_backlog",
    "trim_backlog_batch",
    "log_prio",
    "log_issue_time",
    "log_hist_msec",
    "log_hist_coarseness",
    "write_hist_log",
    "log_unix_epoch",
    "log_alternate_epoch",
    "log_alternate_epoch_clock_id",
    "bwavgtime",
    "iopsavgtime",
    "block_error_percentiles",
    "unified_rw_reporting",
    "ignore_error",
    "flow_watermark",
    "flow_sleep",
    "zonecapacity",
    "read_beyond_wp",
    "max_open_zones",
    "job_max_open_zones",
    "ignore_zone_limits",
    "zone_reset_threshold",
    "zone_reset_frequency",
    "fdp",
    "fdp_pli",
    "fdp_pli_select",
    "plids",
    "plid_select",
    "dataplacement",
    "data_placement",
    "dp_scheme",
    "write_iolog",
    "ramp_size",
    "atomic",
    "readfua",
    "writefua",
    "num_range",
    "write_mode",
    "sg_write_mode",
    "md_per_io_size",
    "pi_act",
    "pi_chk",
    "apptag",
    "apptag_mask",
    "uri",
    "libblkio_driver",
    "libblkio_path",
    "libblkio_pre_connect_props",
    "clientname",
    "pool",
    "rbdname",
    "volume",
    "brick",
    "single-instance",
    "single_instance",
    "namenode",
    "hostname",
    "port",
    "hdfsdirectory",
    "chunk_size",
    "hdfs_use_direct",
    "cont",
    "object_class",
    "svcl",
    "nfs_url",
    "gpu_dev_id",
    "gpu_dev_ids",
    "cuda_io",
    "rocm_io",
    "busy_poll",
    "clustername",
    "xnvme_be",
    "xnvme_async",
    "xnvme_sync",
    "xnvme_admin",
    "xnvme_dev_nsid",
    "replay_redirect",
    "replay_skip",
    "mmapsize",
    "rwf",
    "deterministic",
    "verifysort",
    "verifysort_nr",
    "verify_policy",
    "verify_offset",
    "verify_pattern",
    "verify_pattern_interval",
    "verify_dump",
    "verify_async",
    "verify_async_cpus",
    "verify_backlog",
    "verify_backlog_batch",
    "verify_write_sequence",
    "verify_header_seed",
];

const REFUSED: &[(&str, &str)] = &[
    ("merge_blktrace_file", "traces are merged by none of the commands here; leave it out"),
    ("rw_sequencer_offset", "fio has no such option any more"),
    ("profile", "fio's own workloads are not there; give the options of the jobs instead"),
    ("sprandom", SPRANDOM),
    ("spr_op", SPRANDOM),
    ("spr_num_regions", SPRANDOM),
    ("spr_cs", SPRANDOM),
];

/// Refused unless switched off: who sets them would lose data, or wait for what was not asked.
const REFUSED_ON: &[(&str, &str)] = &[
    (
        "file_append",
        "a target has no end to write behind, and its beginning would be overwritten; say with \
         offset=... where to begin",
    ),
    (
        "create_only",
        "a file is made for a job, and not without running it; leave it out, or make the file \
         with truncate(1)",
    ),
];

const SPRANDOM: &str =
    "preconditioning by sprandom is not there; write the target twice with rw=write and randwrite";

/// What an I/O engine of fio means here, where the target takes its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Engine {
    /// One I/O at a time, whatever the queue depth says.
    Synchronous,
    /// As many as the queue depth says.
    Asynchronous,
    /// One of the two, and said in a warning: it is a way to another kind of device, or through other memory.
    OtherDoor {
        /// One I/O at a time.
        synchronous: bool,
    },
    /// Not block I/O; why it is refused.
    Refused(&'static str),
    /// fio has no such engine.
    Unknown,
}

const SYNCHRONOUS: &[&str] =
    &["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "sync_mmap"];
const ASYNCHRONOUS: &[&str] =
    &["libaio", "posixaio", "io_uring", "null", "cpp_null", "windowsaio", "solarisaio"];
const OTHER_DOORS: &[&str] = &[
    "sg",
    "nbd",
    "rbd",
    "libblkio",
    "io_uring_cmd",
    "xnvme",
    "libzbc",
    "libiscsi",
    "libpmem",
    "dev-dax",
    "pmemblk",
    "gfapi_async",
    "dfs",
    "nfs",
    "ime_aio",
];
const SYNCHRONOUS_DOORS: &[&str] =
    &["gfapi", "libhdfs", "ime_psync", "ime_psyncv", "libcufile", "libhipfile"];
const NO_BLOCK_IO: &[(&str, &str)] = &[
    ("net", NETWORK),
    ("netsplice", NETWORK),
    ("rdma", NETWORK),
    ("http", OBJECTS),
    ("rados", OBJECTS),
    ("cpuio", "it burns CPU time and does no I/O"),
    ("exec", "it runs another program"),
    ("page_fault", "it faults in pages of memory"),
    ("filecreate", FILES),
    ("fileoperations", FILES),
    ("filestat", FILES),
    ("filedelete", FILES),
    ("dircreate", FILES),
    ("dirstat", FILES),
    ("dirdelete", FILES),
    ("falloc", FILES),
    ("ftruncate", FILES),
    ("e4defrag", FILES),
    ("mtd", "raw flash needs erasing by hand; a virtual SSD has its own translation layer"),
];
const NETWORK: &str = "it moves data over a network";
const OBJECTS: &str = "it stores objects over a network";
const FILES: &str = "it works on files of a file system, not on blocks";

/// What is known of an engine.
pub(super) fn engine(name: &str) -> Engine {
    // external:path/to/engine.so is whatever it is.
    let name = name.split(':').next().unwrap_or(name);
    if let Some((_, why)) = NO_BLOCK_IO.iter().find(|(engine, _)| *engine == name) {
        return Engine::Refused(why);
    }
    match name {
        "external" => Engine::Refused("an external engine is code that only fio can load"),
        _ if SYNCHRONOUS.contains(&name) => Engine::Synchronous,
        _ if ASYNCHRONOUS.contains(&name) => Engine::Asynchronous,
        _ if OTHER_DOORS.contains(&name) => Engine::OtherDoor { synchronous: false },
        _ if SYNCHRONOUS_DOORS.contains(&name) => Engine::OtherDoor { synchronous: true },
        _ => Engine::Unknown,
    }
}

/// All engines that are known.
pub(super) fn engines() -> impl Iterator<Item = &'static str> {
    let refused = NO_BLOCK_IO.iter().map(|(name, _)| *name);
    let doors = OTHER_DOORS.iter().chain(SYNCHRONOUS_DOORS);
    SYNCHRONOUS.iter().chain(ASYNCHRONOUS).chain(doors).copied().chain(refused)
}
