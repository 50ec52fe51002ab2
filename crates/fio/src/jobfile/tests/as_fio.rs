//! What fio 3.33 did with the same options on a file of 1 MiB, and what we say where we differ.

use super::*;

fn limits(options: &str) -> (u64, u64) {
    let limits = jobs(&format!("[a]\nrw=randread\nsize=1m\n{options}")).plan.streams[0].limits;
    (limits.bytes, limits.ios)
}

fn warned(options: &str) -> Vec<String> {
    jobs(&format!("[a]\nrw=randrw\nsize=1m\n{options}")).warnings
}

/// I/Os of a job on a drive that answers, and the bytes of them.
fn done(options: &str) -> (u64, u64) {
    let jobs = jobs(&format!("[a]\nrw=randread\nsize=1m\n{options}"));
    let result = run(&mut Null::new(DRIVE.sectors, Nanos(100_000)), &jobs.plan, &mut Unobserved);
    let measure = &result.streams[0].measure;
    (measure.ios(), measure.tallies.iter().map(|tally| tally.bytes).sum())
}

#[test]
fn what_would_lose_data_or_run_another_workload_is_refused_and_taken_where_it_is_off() {
    for (option, said) in [
        ("file_append=1", "line 2: file_append=1: a target has no end to write behind"),
        ("file_append", "say with offset=... where to begin"),
        ("create_only=1", "line 2: create_only=1: a file is made for a job"),
        ("profile=tiobench", "line 2: profile=tiobench: fio's own workloads are not there"),
    ] {
        let error = on(&format!("[a]\n{option}\nrw=write\n")).expect_err(option);
        assert!(error.contains(said), "{option}: {error}");
    }
    assert_eq!(warned("file_append=0\ncreate_only=0\n"), [""; 0]);
    assert!(on("[a]\nfile_append=perhaps\n").is_err());
}

#[test]
fn what_fio_does_and_we_do_not_is_named_unless_it_is_fios_default() {
    for (options, said) in [
        ("iodepth_batch=4", "iodepth_batch"),
        // In fio as many as iodepth.
        ("iodepth_batch_submit=0", "iodepth_batch_submit=0"),
        ("iodepth_batch_complete=8", "iodepth_batch_complete"),
        ("iodepth_batch_complete_min=0", "iodepth_batch_complete_min=0"),
        ("iodepth_batch_complete_max=8", "iodepth_batch_complete_max"),
        ("ioengine=libaio\niodepth=8\niodepth_low=2", "iodepth_low"),
        ("io_submit_mode=offload", "io_submit_mode"),
        ("exitall_on_error", "exitall_on_error"),
        ("directory=/somewhere", "directory"),
        ("allow_file_create=0", "allow_file_create=0"),
        ("unlink=1\nlockfile=exclusive", "unlink, lockfile"),
        ("rwmixread=33.9", "the fraction in rwmixread=33.9"),
    ] {
        assert_eq!(warned(&format!("{options}\n")), [format!("without effect here: {said}")]);
    }
    for options in [
        "iodepth_batch=1\niodepth_batch_submit=1\niodepth_batch_complete=1",
        "iodepth_batch_complete_min=1\niodepth_batch_complete_max=1",
        "ioengine=libaio\niodepth=8\niodepth_low=0",
        "ioengine=libaio\niodepth=8\niodepth_low=8",
        "ioengine=psync\niodepth=1\niodepth_low=2",
        "io_submit_mode=inline\nlockfile=none\nwrite_hint=none\ninvalidate=1",
        "exitall_on_error=0\nallow_file_create=1\noverwrite=0\nunlink=0\nnowait=0",
        "rwmixread=33.0\npercentage_random=50,60",
    ] {
        assert_eq!(warned(&format!("{options}\n")), [""; 0], "{options}");
    }
}

#[test]
fn a_percentage_is_cut_to_a_whole_one_as_by_fio() {
    let of = |options: &str| jobs(&format!("[a]\nrw=randrw\n{options}\n")).plan.streams[0].clone();
    let mix = |options: &str| of(options).operations;
    assert_eq!(mix("rwmixread=33.9"), Operations::Mixed { read_percent: 33 });
    assert_eq!(mix("rwmixwrite=33.9"), Operations::Mixed { read_percent: 67 });
    assert_eq!(of("percentage_random=33.9,50").access.random_percent, [33, 50, 50]);
    assert_eq!(of("buffer_compress_percentage=33.9").compressible_percent, 33);
    assert_eq!(of("dedupe_percentage=33.9").compressible_percent, 33);
    let said = "without effect here: the fraction in percentage_random=33.9,50";
    assert_eq!(warned("percentage_random=33.9,50\n"), [said]);
}

#[test]
fn blocks_that_may_overlap_are_whole_ones() {
    let once = |options: &str| {
        let access = &jobs(&format!("[a]\nrw=randread\nsize=1m\n{options}")).plan.streams[0].access;
        access.once
    };
    assert!(once("bs=16k\n") && !once("bs=16k\nblockalign=4k\n"));
    // As fio says: "Any use of blockalign= turns off randommap".
    assert!(!once("blockalign=4k\n") && !once("blockalign=,8k\n"));
    // 64 of 16 KiB, where they used to be cut at the next block that was covered.
    assert_eq!(done("bs=16k\nblockalign=4k\n"), (64, 1 << 20));
    assert_eq!(done("bs=16k\n"), (64, 1 << 20));
}

#[test]
fn an_amount_ends_with_a_whole_block() {
    for (options, ios) in [
        ("io_size=1", 1),
        ("io_size=4096", 1),
        ("io_size=4097", 2),
        ("io_size=5000", 2),
        ("io_size=8193", 3),
        // Of all loops together.
        ("io_size=1\nloops=3", 1),
        ("io_size=4095\nloops=3", 3),
        ("io_size=5000\nloops=3", 4),
        // The same as if it were not given.
        ("io_size=0", 256),
        ("", 256),
    ] {
        assert_eq!(done(&format!("{options}\n")), (ios, ios * 4096), "{options}");
    }
    assert_eq!(done("bsrange=8k-64k\nbs=64k\nio_size=1\n"), (1, 65_536));
    // The largest there is adds up to no more than can be counted.
    assert_eq!(limits("io_size=9223372036854775807\nloops=9\n").0, u64::MAX);
}

#[test]
fn a_number_of_ios_is_that_of_a_loop() {
    assert_eq!(limits("number_ios=10\n").1, 10);
    assert_eq!(limits("number_ios=10\nloops=3\n").1, 30);
    assert_eq!(limits("loops=3\n").1, u64::MAX);
    assert_eq!(done("number_ios=10\nloops=3\n").0, 30);
    // Never more than the loops have: fio did 768 and 12.
    assert_eq!(done("number_ios=600\nloops=3\n").0, 768);
    assert_eq!(done("number_ios=10\nio_size=16k\nloops=3\n").0, 12);
    // By time it goes round and round; without a time, time_based has no meaning.
    assert_eq!(done("number_ios=10\nruntime=1\ntime_based\n").0, 10_000);
    assert_eq!(done("number_ios=10\ntime_based\n").0, 10);
    // A recording is not cut short by it, but goes on with its fourth.
    assert_eq!(replayed(LOG_3, "number_ios=3\nloops=2\n").map(|done| done.0), Ok([2, 3, 1]));
    assert_eq!(replayed(LOG_3, "number_ios=9\nloops=2\n").map(|done| done.0), Ok([2, 4, 2]));
}

#[test]
fn times_that_cannot_be_are_told_with_their_units() {
    let shorter = "latency_target=1ms\nlatency_window=500us\n";
    for (options, said) in [
        ("latency_target=1ns\n", "line 2: latency_window is missing"),
        (
            shorter,
            "line 3: a latency_window of 500.0 us is shorter than a latency_target of 1.00 ms",
        ),
        (
            "startdelay=5-2\n",
            "line 2: startdelay=5-2: \"5-2\" ends before it begins: give the smal",
        ),
    ] {
        let error = on(&format!("[a]\n{options}")).expect_err(options);
        assert!(error.contains(said), "{options}: {error}");
    }
    let delay = |text: &str| jobs(&format!("[a]\nstartdelay={text}\n")).plan.streams[0].start.delay;
    assert_eq!((delay("2-5"), delay("5-5")), (Nanos(3_500_000_000), Nanos::from_secs(5)));
    assert!(on("[a]\nlatency_target=1ms\nlatency_window=1ms\n").is_ok());
}

#[test]
fn a_depth_that_a_synchronous_engine_does_not_have_is_told() {
    let told = "does not count with ioengine=";
    let how = "; ioengine=libaio or io_uring makes it count";
    assert_eq!(
        warned("iodepth=4\n"),
        [format!("job a: iodepth=4 {told}psync (fio's default){how}")]
    );
    assert_eq!(warned("iodepth=4\nioengine=sync\n"), [format!("job a: iodepth=4 {told}sync{how}")]);
    // As soon as it counts, or is one, there is nothing to tell.
    for fine in
        ["iodepth=4\nioengine=libaio\n", "iodepth=4\nioengine=io_uring\n", "iodepth=1\n", ""]
    {
        assert_eq!(warned(fine), [""; 0], "{fine}");
    }
    // Jobs of one kind are told together.
    let text = "[global]\nrw=read\nsize=1m\niodepth=8\n[a]\n[b]\nnumjobs=3\n[c]\niodepth=2\n[d]\nioengine=libaio\n";
    assert_eq!(
        jobs(text).warnings,
        [
            format!("jobs a, b: iodepth=8 {told}psync (fio's default){how}"),
            format!("job c: iodepth=2 {told}psync (fio's default){how}"),
        ]
    );
}

#[test]
fn an_engine_that_reads_and_writes_elsewhere_is_run_on_the_target_with_a_word() {
    for (engine, depth) in [("nfs", 8), ("dfs", 8), ("gfapi", 1), ("libcufile", 1), ("rbd", 8)] {
        let jobs = jobs(&format!("[a]\nioengine={engine}\niodepth=8\nnfs_url=nfs://a/b\n"));
        assert_eq!(jobs.plan.streams[0].depth, depth, "{engine}");
        let warned = format!("without effect here: ioengine={engine}, nfs_url");
        assert_eq!(jobs.warnings[0], warned);
        // Of those with one I/O in flight the depth is told, too.
        assert_eq!(jobs.warnings.len(), if depth == 1 { 2 } else { 1 }, "{engine}");
    }
    assert!(on("[a]\nioengine=filecreate\n").is_err() && on("[a]\nioengine=http\n").is_err());
}
