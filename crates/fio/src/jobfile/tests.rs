//! Job files on targets: what they come to, and what they are refused for.

use fourcorners_drive::{Geometry, Nanos, Null};
use fourcorners_run::Unobserved;
use fourcorners_run::streams::{
    BlockSizes, Distribution, LatencyTarget, Operations, Rate, TakesAlong, run,
};
use fourcorners_run::verify::Kind;
use proptest::prelude::*;

use super::assign::TYPED;
use super::*;

mod as_fio;

const DRIVE: Geometry = Geometry { sectors: 1 << 21, logical_block_bytes: 512, queue_depth: 1024 };

fn placed(is_virtual: bool) -> Placed {
    Placed { geometry: DRIVE, is_virtual, seed: 9, first_job: 0 }
}

fn parse(text: &str) -> Result<JobFile, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("job.fio");
    std::fs::write(&path, text).expect("a file");
    let file = JobFile::read(&path, &|_| None);
    let place = format!("{}/", folder.path().display());
    file.map_err(|error| error.to_string().replace(&place, ""))
}

fn on(text: &str) -> Result<Jobs, String> {
    parse(text)?
        .on(placed(true), |_| true)
        .map_err(|error| error.to_string().split("job.fio").last().unwrap_or_default().into())
}

fn jobs(text: &str) -> Jobs {
    on(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn defaults_are_fios() {
    let jobs = jobs("[a]\n");
    let stream = &jobs.plan.streams[0];
    assert_eq!(stream.operations, Operations::Only(Direction::Read));
    assert_eq!(stream.blocks[0], BlockSizes::One(4096));
    assert_eq!((stream.depth, stream.span_bytes), (1, 1 << 30));
    assert_eq!(stream.limits.bytes, 1 << 30);
    assert_eq!(stream.access.random_percent, [0; 3]);
    assert!(stream.access.once && jobs.warnings.is_empty());
}

#[test]
fn a_latency_is_searched_for_in_microseconds_and_a_sequence_gone_through() {
    let jobs = jobs(
        "[global]\nrw=randread\nsize=1m\n[a]\nlatency_target=500\nlatency_window=5s\nlatency_percentile=99.9\n\
         [b]\nlatency_window=5s\nrandom_distribution=sequence:2,0,1\nrandom_sequence_stride=1\n",
    );
    let [a, b] = &jobs.plan.streams[..] else { panic!("two jobs") };
    let target = LatencyTarget {
        latency: Nanos(500_000),
        window: Nanos::from_secs(5),
        percent: 99.9,
        goes_on: false,
    };
    assert_eq!(a.latency_target, Some(target));
    // Without a target there is nothing to search for.
    assert_eq!(b.latency_target, None);
    let sequence = Distribution::Sequence { blocks: vec![2, 0, 1], strides: true };
    assert_eq!(b.access.distribution, sequence);
    assert!(jobs.warnings.is_empty(), "{:?}", jobs.warnings);
    // In order nothing is drawn.
    assert!(on("[a]\nrw=read\nsize=20k\nrandom_distribution=sequence:400\n").is_ok());
}

#[test]
fn a_job_takes_the_options_of_its_section_over_the_global_ones() {
    let jobs = jobs(
        "[global]\nioengine=libaio\niodepth=8\nbs=8k,16k\nrw=randrw\nrwmixread=70\n\
         [a]\nsize=25%\noffset=512m\nruntime=10\ntime_based\nrate_iops=100,200\n\
         [b]\niodepth=2\nio_size=1m\nloops=3\nsync=1\nzero_buffers\n",
    );
    let [a, b] = &jobs.plan.streams[..] else { panic!("two jobs") };
    assert_eq!(a.operations, Operations::Mixed { read_percent: 70 });
    assert_eq!(a.blocks[..2], [BlockSizes::One(8192), BlockSizes::One(16384)]);
    assert_eq!((a.depth, a.span_bytes, a.span_start_bytes), (8, 256 << 20, 512 << 20));
    assert_eq!((a.limits.bytes, a.limits.time), (u64::MAX, Nanos::from_secs(10)));
    assert_eq!(a.pace[1].map(|pace| pace.rate), Some(Rate::Ios(200)));
    assert_eq!((b.depth, b.limits.bytes, b.fua), (2, 3 << 20, true));
    assert_eq!((a.compressible_percent, b.compressible_percent), (0, 100));
    assert_ne!(a.seed, b.seed);
}

#[test]
fn stone_walls_groups_and_copies_are_in_order() {
    let jobs = jobs(
        "[one]\nnumjobs=2\noffset_increment=10%\n[two]\nnew_group\nwait_for=one\nexitall\n\
         [three]\nstonewall\nnumjobs=2\ngroup_reporting\n[four]\ngroup_reporting\n",
    );
    let after: Vec<&[usize]> =
        jobs.plan.streams.iter().map(|stream| stream.start.after.as_slice()).collect();
    let all: &[usize] = &[0, 1, 2];
    assert_eq!(after, [&[][..], &[], &[0, 1], all, all, all]);
    let groups: Vec<u32> = jobs.jobs.iter().map(|job| job.group).collect();
    assert_eq!(groups, [0, 0, 1, 2, 2, 2]);
    let reported: Vec<usize> = jobs.jobs.iter().map(|job| job.reported_as).collect();
    assert_eq!(reported, [0, 1, 2, 3, 3, 3]);
    let starts: Vec<u64> = jobs.plan.streams.iter().map(|stream| stream.span_start_bytes).collect();
    assert_eq!(starts[1] / 4096, (1 << 30) / 10 / 4096);
    assert_eq!(jobs.plan.streams[2].takes_along, Some(TakesAlong::Group));
}

#[test]
fn a_synchronous_engine_has_one_io_in_flight() {
    let depth = |engine: &str| jobs(&format!("[a]\nioengine={engine}\niodepth=32\n")).plan.depth();
    assert_eq!((depth("psync"), depth("io_uring"), depth("nbd")), (1, 32, 32));
}

#[test]
fn compression_and_deduplication_add_up() {
    let percent = |options: &str| {
        jobs(&format!("[a]\nrw=write\n{options}")).plan.streams[0].compressible_percent
    };
    assert_eq!(percent("buffer_compress_percentage=50\n"), 50);
    assert_eq!(percent("buffer_compress_percentage=50\ndedupe_percentage=50\n"), 75);
    assert_eq!(percent("buffer_pattern=0xdeadbeef\n"), 100);
}

#[test]
fn a_rate_of_ios_counts_the_smallest_of_several_sizes() {
    let rate = |options: &str| {
        let jobs = jobs(&format!("[a]\nrw=randread\nsize=1m\nrate_iops=100\n{options}\n"));
        jobs.plan.streams[0].pace[0].map(|pace| pace.rate)
    };
    assert_eq!(rate("bs=16k"), Some(Rate::Ios(100)));
    // fio 3.33 moved 8,192,000 bytes a second with rate_iops=2000 and 4k/70:16k/30.
    assert_eq!(rate("bssplit=4k/70:16k/30"), Some(Rate::Bytes(409_600)));
    assert_eq!(rate("bsrange=8k-64k"), Some(Rate::Bytes(819_200)));
    // A Poisson process is one of I/Os, there too.
    assert_eq!(rate("bsrange=8k-64k\nrate_process=poisson"), Some(Rate::Ios(100)));
}

#[test]
fn what_has_no_effect_is_said_in_one_warning() {
    let jobs =
        jobs("[global]\nnrfiles=4\nthread\n[a]\nverify=crc32c\ndirect=0\nnrfiles=4\nsize=4g\n");
    assert_eq!(jobs.warnings.len(), 2);
    assert_eq!(
        jobs.warnings[0],
        "without effect here: nrfiles, direct=0, verify=crc32c (a virtual drive keeps no data)"
    );
    assert!(jobs.warnings[1].starts_with("size=4294967296 is more than"), "{:?}", jobs.warnings);
}

#[test]
fn what_cannot_be_done_is_refused_with_its_line() {
    for (text, said) in [
        ("[a]\nrww=read\n", "line 2: rww=read: fio has no such option; did you mean rw?"),
        ("[a]\nqwertzuiop=1\n", "line 2: qwertzuiop=1: fio has no such option"),
        ("[a]\nbs=4x\n", "line 2: bs=4x: \"4x\" is no size"),
        ("[a]\nbs\n", "line 2: bs: it needs a value"),
        ("[a]\nrw=randred\n", "did you mean randread?"),
        ("[a]\nbs=1000\n", "line 2: blocks have to be multiples"),
        (
            "[a]\n\nioengine=net\nhostname=x\n",
            "line 3: ioengine=net does no block I/O: it moves data",
        ),
        ("[a]\nioengine=libaoi\n", "did you mean libaio?"),
        ("[a]\nlatency_target=5x\n", "\"5x\" is no time"),
        (
            "[a]\nlatency_percentile=101\n",
            "line 2: latency_percentile=101: \"101\" is no percentage",
        ),
        (
            "[a]\nsize=20k\nrw=randread\nrandom_distribution=sequence:1,5\n",
            "line 4: random_distribution: there is no block 5: 5 of 4096 bytes are",
        ),
        ("[a]\nrandom_distribution=sequence:1,\n", "\"\" is no number"),
        (
            "[a]\nlatency_target=1ms\n",
            "line 2: latency_window is missing, in which latency_target is to be met: give",
        ),
        (
            "[a]\nlatency_target=1ms\nlatency_window=1s\nrate_iops=100\n",
            "line 4: latency_target searches the queue depth",
        ),
        (
            "[a]\nlatency_target=1ms\nlatency_window=1s\nsteadystate=iops:5%\n",
            "line 2: latency_target and steadystate both end",
        ),
        ("[a]\nsprandom=1\n", "preconditioning by sprandom"),
        ("[a]\nzonemode=zbd\n", "zoned block devices"),
        ("[a]\nwait_for=b\n[b]\n", "line 2: wait_for=b: no job before this one"),
        ("[a]\noffset=2g\n", "line 2: offset=2147483648 leaves no room"),
        ("[a]\noffset=100\n", "line 2: offset=100 is not a multiple"),
        ("[a]\nsize=1k\n", "line 2: size=1024 is less than a block of 4096"),
        ("[a]\nnumjobs=2000\n", "line 2: more than 1024 jobs"),
        ("[a]\nioengine=libaio\niodepth=40000\n", "line 3: more than 32768 I/Os in flight"),
        ("[a]\nnumjobs=0\n", "\"0\" is out of range"),
        ("[a]\nrwmixread=101\n", "\"101\" is no percentage"),
        ("[a]\npercentage_random=x\n", "\"x\" is no percentage"),
        ("[a]\nruntime=1y\n", "\"1y\" is no time"),
        ("[a]\nss=iops\nss=foo:5%\n", "line 3: ss=foo:5%: \"foo\" is none of"),
        ("[a]\ntime_based=maybe\n", "\"maybe\" is neither 0 nor 1"),
        ("[a]\nzonemode=strided\n", "zonesize=0, zonerange=0 and zoneskip=0 do not fit"),
    ] {
        let error = on(text).expect_err(text);
        assert!(error.contains(said), "{text:?}: {error}");
    }
}

/// As [`on`], on a real target.
fn on_real(text: &str) -> Result<Jobs, String> {
    parse(text)?
        .on(placed(false), |_| true)
        .map_err(|error| error.to_string().split("job.fio").last().unwrap_or_default().into())
}

#[test]
fn a_k_is_what_kb_base_says_wherever_it_stands() {
    let bytes = |text: &str| on(text).expect("it is well written").plan.streams[0].limits.bytes;
    let first = bytes("[a]\nkb_base=1000\nsize=4m\nbs=4096\n");
    assert_eq!(bytes("[a]\nsize=4m\nbs=4096\nkb_base=1000\n"), first);
    let plain = bytes("[a]\nsize=4m\nbs=4096\n");
    assert_ne!(plain, first);
    // Each section has its own, as in fio.
    assert_eq!(bytes("[global]\nsize=4m\n[a]\nkb_base=1000\nbs=4096\n"), plain);
    assert_eq!(bytes("[global]\nsize=4m\nkb_base=1000\n[a]\nkb_base=1024\nbs=4096\n"), first);
}

#[test]
fn a_job_has_one_file_and_a_colon_of_its_name_is_marked() {
    let named = |name: &str| {
        let file = parse(&format!("[a]\nfilename={name}\n")).unwrap_or_else(|why| panic!("{why}"));
        (file.filenames().next().flatten().map(String::from), file.several_files().is_some())
    };
    assert_eq!(named("fa:fb"), (Some("fa:fb".into()), true));
    assert_eq!(named("pci-0000\\:00"), (Some("pci-0000:00".into()), false));
}

#[test]
fn each_direction_has_its_own_blocks_and_places() {
    let align =
        |text: &str| on(text).expect("it is well written").plan.streams[0].access.align_bytes;
    let text = "[a]\nrw=randrw\nsize=64m\nbs=4k,64k\n";
    assert_eq!(align(text), [4096, 65_536, 65_536]);
    assert_eq!(align(&format!("{text}blockalign=8k\n")), [8192; 3]);
    assert_eq!(align(&format!("{text}blockalign=,128k\n")), [4096, 131_072, 131_072]);
    let both = format!("[global]\nba=8k\n{text}ba=,128k\n");
    assert_eq!(align(&both), [8192, 131_072, 131_072]);
    assert_eq!(align("[a]\nrw=randrw\nsize=64m\nbsrange=4k-64k\n"), [4096; 3]);
}

#[test]
fn jobs_on_a_target_are_verified_together() {
    let text = "[global]\nverify=md5\nsize=1m\n[a]\nrw=write\nbs=12k\n[b]\noffset=1m\nrw=randwrite\n\
                bsrange=4k-32k\nbuffer_compress_percentage=40\n[c]\nstonewall\nverify=0\nrw=read\n\
                bs=64k\nsize=3m\n";
    let spec = on_real(text).expect("it is well written").plan.verify.expect("it asks for it");
    assert_eq!((spec.kind, spec.block_bytes), (Kind::Md5, 4096));
    assert_eq!((spec.start_bytes, spec.bytes, spec.run), (0, 3 << 20, 9));
    assert_eq!((spec.wanted, spec.compressible_percent), (vec![true, true, false], vec![0, 40, 0]));
    assert!(spec.read_back && !spec.fatal && !spec.only);
    assert_eq!(on_real("[a]\nrw=write\nverify=null\n").expect("no error").plan.verify, None);
    assert_eq!(on("[a]\nrw=write\nverify=md5\n").expect("no error").plan.verify, None);
    let small = on_real("[a]\nrw=write\nverify=md5\nverify_interval=512\ndo_verify=0\n");
    let small = small.expect("no error").plan.verify.expect("it asks for it");
    assert_eq!((small.block_bytes, small.read_back), (512, false));
    // What a recording beside them writes is as long as it says, and not as its job's block.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("io.log");
    let of_reads = on_real("[a]\nrw=read\nbs=128k,4k\nsize=1m\nverify=md5\n").expect("no error");
    assert_eq!(of_reads.plan.verify.expect("it asks for it").block_bytes, 131_072);
    for (log, block_bytes) in
        [("0 f write 0 512", 512), ("0 f write 8704 4096", 512), ("0 f write 8192 4096", 4096)]
    {
        std::fs::write(&path, format!("fio version 3 iolog\n0 f add\n{log}\n")).expect("a file");
        let text =
            format!("[a]\nrw=write\nsize=1m\nverify=md5\n[l]\nread_iolog={}\n", path.display());
        let spec = on_real(&text).expect("no error").plan.verify.expect("it asks for it");
        assert_eq!(spec.block_bytes, block_bytes, "{log}");
    }
}

#[test]
fn what_cannot_be_verified_says_why() {
    let only = "verify_only has to know";
    for (text, said) in [
        ("verify=crc16\nrw=write\n", "line 2: verify=crc16: that checksum is not there"),
        (
            "rw=write\nverify=md5\nverify_interval=1000\n",
            "line 4: verify_interval=1000 is not a mu",
        ),
        ("rw=write\nverify=md5\n[b]\nrw=read\nverify=crc32\n", "line 3: jobs on one target ver"),
        ("rw=read\nverify=md5\nverify_only\n", only),
        ("rw=write\nverify=md5\nverify_only\nruntime=3\n", "leave runtime out"),
        ("rw=randwrite\nverify=md5\nverify_only\nrandrepeat=0\n", "give a randseed"),
        ("rw=randrw\nverify=md5\nverify_only\nrate_iops=9\n", "a mix with paces"),
        ("rw=write\nverify=md5\nverify_only\nnumjobs=2\n", "put a stonewall"),
        ("rw=write\nverify=md5\nverify_only\n[b]\nverify=md5\nrw=read\n", "for all jobs"),
    ] {
        let error = on_real(&format!("[a]\n{text}")).expect_err(text);
        assert!(error.contains(said), "{text:?}: {error}");
    }
    let apart = "[a]\nrw=write\nverify=md5\nverify_only\nnumjobs=2\nsize=1m\noffset_increment=1m\n";
    assert!(on_real(apart).is_ok_and(|jobs| jobs.plan.verify.is_some_and(|spec| spec.only)));
    assert!(!parse(apart).expect("it is well written").changes(|_| true), "it only reads");
}

#[test]
fn every_option_of_the_methods_is_known() {
    let known = "rw bs bssplit rwmixread percentage_random random_distribution size io_size offset \
                 runtime time_based ramp_time startdelay loops stonewall iodepth numjobs direct \
                 filename ioengine norandommap randrepeat randseed zero_buffers refill_buffers \
                 buffer_compress_percentage buffer_pattern dedupe_percentage rate rate_iops thinktime \
                 fsync end_fsync verify group_reporting percentile_list log_avg_msec write_bw_log \
                 write_lat_log write_iops_log ss ss_dur ss_ramp";
    for name in known.split_whitespace() {
        assert!(TYPED.contains(&name), "{name}");
    }
    // What is in the list is taken by name: it never is unknown.
    for name in TYPED {
        let error = parse(&format!("[a]\n{name}=?\n")).err().unwrap_or_default();
        assert!(!error.contains("no such option"), "{error}");
    }
}

fn any_value() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "0",
        "1",
        "2",
        "7",
        "50",
        "100",
        "4k",
        "64k",
        "1m",
        "10%",
        "99.9",
        "read",
        "randrw",
        "write",
        "randtrim",
        "trimwrite",
        "rw:-8k",
        "randread:4",
        "zipf:1.2",
        "pareto:0.3",
        "normal:10",
        "zoned:50/5:50/95",
        "4k/50:16k/50",
        "4k-64k",
        "512-8k",
        "iops:5%",
        "bw_slope:0.1%",
        "libaio",
        "psync",
        "10ms",
        "5-10",
        ",4k",
        "4k,8k,512",
        "strided",
        "none",
        "poisson",
        "identical",
        "all",
        "50:99",
        "1024",
        "1000",
        "-1",
        "",
        "18446744073709551615",
        "é",
    ]);
    prop_oneof![8 => words.prop_map(String::from), 1 => "[ -~]{0,12}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_job_file_is_refused_in_a_line_or_runs(
        options in prop::collection::vec((prop::sample::select(TYPED.to_vec()), any_value()), 0..12),
        is_virtual in any::<bool>(),
    ) {
        let mut text = String::from("[global]\nname=x\n[a]\n");
        for (name, value) in &options {
            let option = format!("{name}={value}\n");
            // What is wrong by itself would hide what is wrong together, so few of that.
            if value.len() == 7 || parse(&format!("[a]\n{option}")).is_ok() {
                text += &option;
            }
        }
        // So that it ends; a drive of 1 GiB has up to two million blocks.
        text += "number_ios=20\ntime_based=0\nruntime=5\nnumjobs=2\nrate=0\nlog_avg_msec=1000\n[b]\nstonewall\nnumber_ios=5\n";
        match parse(&text).and_then(|file| {
            file.on(placed(is_virtual), |_| true).map_err(|error| error.to_string())
        }) {
            Err(error) => prop_assert!(!error.contains('\n') && error.contains("job.fio"), "{error}"),
            Ok(jobs) => {
                let mut drive = Null::new(DRIVE.sectors, Nanos(100_000));
                let result = run(&mut drive, &jobs.plan, &mut Unobserved);
                for (stream, planned) in result.streams.iter().zip(&jobs.plan.streams) {
                    prop_assert!(stream.failed.is_none(), "{text}: {:?}", stream.failed);
                    prop_assert!(stream.measure.ios() <= planned.limits.ios);
                }
            }
        }
    }

    #[test]
    fn no_bytes_make_it_panic(text in "(\\[[a-z]{0,3}\\]?|include|[a-z_]{1,9}|=|\\$\\{|\\}|;|#|\n| |é|\\PC){0,60}") {
        if let Err(error) = parse(&text) {
            prop_assert!(!error.is_empty());
        }
    }
}

#[test]
fn one_loop_has_one_way_to_run() {
    let text = "[global]\nsize=1m\nhipri\nsqthread_poll=1\nsqthread_poll_cpu=1\ncpus_allowed=0,2-3\n\
                [a]\nrw=write\n[b]\nrw=read\n";
    let ways = on_real(text).expect("it is well written").ways;
    assert!(ways.polled && ways.submission_thread);
    assert_eq!((ways.submission_cpu, ways.cpus), (Some(1), vec![0, 2, 3]));
    for (text, said) in [
        ("[a]\nrw=read\n[b]\nrw=read\nhipri\n", "so hipri is the same for all of them"),
        ("[a]\nrw=read\ncpumask=1\n[b]\nrw=read\ncpumask=2\n", "so cpus_allowed is the same"),
        (
            "[a]\nrw=write\nhipri\nend_fsync=1\n",
            "line 3: a polled ring takes reads and writes only",
        ),
        ("[a]\nrw=read\ncpus_allowed=x\n", "line 3: cpus_allowed=x: \"x\" is not a CPU"),
    ] {
        let error = on_real(text).expect_err(text);
        assert!(error.contains(said), "{text:?}: {error}");
    }
}

/// Runs a job that replays this log on a drive that takes 100 us for an I/O; its counts of reads, writes
/// and flushes, and how long it took in microseconds.
fn replayed(log: &str, more: &str) -> Result<([u64; 3], u64), String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("io.log");
    std::fs::write(&path, log).expect("a file");
    let text = format!("[a]\nioengine=libaio\niodepth=8\nread_iolog={}\n{more}", path.display());
    let jobs = on(&text).map_err(|why| why.replace(&folder.path().display().to_string(), ""))?;
    let result = run(&mut Null::new(DRIVE.sectors, Nanos(100_000)), &jobs.plan, &mut Unobserved);
    let measure = &result.streams[0].measure;
    let [reads, writes, _] = [0, 1, 2].map(|side: usize| measure.tallies[side].latency.count());
    let flushes = measure.flushes.latency.count();
    Ok(([reads, writes, flushes], result.streams[0].elapsed.0 / 1000))
}

const LOG_3: &str = "fio version 3 iolog\n0 f add\n0 f open\n0 f write 0 4096\n1000 f read 8192 8192\n\
                     1000 f sync\n5000 f write 4096 512\n9000 f close\n";
const LOG_2: &str = "fio version 2 iolog\nf add\nf open\nf write 0 4096\nf wait 1000\nf read 8192 8192\n\
                     f sync\nf wait 4000\nf write 4096 512\nf close\n";

#[test]
fn recordings_are_replayed_at_their_times() {
    for log in [LOG_3, LOG_2] {
        assert_eq!(replayed(log, ""), Ok(([1, 2, 1], 5100)));
        // Twice as fast, and as fast as it goes: all four fit into the queue.
        assert_eq!(replayed(log, "replay_time_scale=200\n"), Ok(([1, 2, 1], 2600)));
        assert_eq!(replayed(log, "replay_no_stall=1\n"), Ok(([1, 2, 1], 100)));
        assert_eq!(replayed(log, "replay_no_stall=1\niodepth=1\n"), Ok(([1, 2, 1], 400)));
        assert_eq!(replayed(log, "loops=2\n"), Ok(([2, 4, 2], 10_100)));
        assert_eq!(replayed(log, "number_ios=3\n"), Ok(([1, 1, 1], 1100)));
    }
}

#[test]
fn what_a_recording_cannot_be_says_why() {
    for (log, more, said) in [
        ("fio version 3 iolog\n0 f write 2000000000 4096\n", "", "set replay_scale"),
        ("fio version 3 iolog\n0 f add\n", "", "there is nothing to replay"),
        ("fio version 9 iolog\n", "", "read_iolog: "),
        (LOG_3, "rate_iops=5\n", "line 5: a recording has its own times"),
        (LOG_3, "replay_time_scale=0\n", "replay_time_scale=0"),
    ] {
        let error = replayed(log, more).expect_err(log);
        assert!(error.contains(said), "{log:?}: {error}");
    }
    let far = "fio version 3 iolog\n0 f write 2000000000 4096\n";
    assert!(replayed(far, "replay_scale=4\n").is_ok());
    let absent = on("[a]\nread_iolog=/nowhere/io.log\n").expect_err("no such file");
    assert!(absent.contains("/nowhere/io.log"), "{absent}");
    // A log that writes needs leave to write, whatever rw says.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("io.log");
    std::fs::write(&path, LOG_3).expect("a file");
    let file =
        parse(&format!("[a]\nrw=read\nread_iolog={}\n", path.display())).expect("it is fine");
    assert!(file.changes(|_| true) && file.files.contains(&path));
}
