//! The virtual drives in small, for work on them: a Crucial m4 of a 32nd of its blocks, whose map
//! fits in the processor's cache. What a drive of full size does, memory included, is
//! `fourcorners bench`; the two together tell computing from waiting for memory.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use fourcorners_catalogue::{self as catalogue, Model};
use fourcorners_drive::{Nanos, Null, Ssd, Target};
use fourcorners_lab::bench::{DRIVE, SET, job};
use fourcorners_linux::HugePages;
use fourcorners_record::Pattern;
use fourcorners_run::{Histogram, Unobserved, run};

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

/// I/Os of one measurement.
const IOS: u64 = 100_000;

fn main() {
    divan::main();
}

fn small_drive() -> Ssd {
    let set = [SET, "nand.blocks_per_plane=64", "capacity.sectors=14680064"].map(String::from);
    let profile = catalogue::built_in(DRIVE, &set).expect("a drive of the catalogue");
    let Model::Ssd(profile) = &profile.model else { panic!("{DRIVE} is an SSD") };
    Ssd::new(profile).expect("it was checked")
}

/// A drive that was filled and overwritten at random twice, and random I/Os on it.
fn used_drive(bencher: Bencher<'_, '_>, read_percent: u8) {
    let mut drive = small_drive();
    let user = drive.geometry().bytes();
    run(&mut drive, &job(Pattern::Sequential, 0, user, user), &mut Unobserved);
    run(&mut drive, &job(Pattern::Random, 0, user, 2 * user), &mut Unobserved);
    let job = job(Pattern::Random, read_percent, user, IOS * 4096);
    bencher.counter(ItemsCount::new(IOS)).bench_local(|| run(&mut drive, &job, &mut Unobserved));
}

#[divan::bench(sample_count = 20)]
fn random_read(bencher: Bencher<'_, '_>) {
    used_drive(bencher, 100);
}

#[divan::bench(sample_count = 20)]
fn mixed_70_30(bencher: Bencher<'_, '_>) {
    used_drive(bencher, 70);
}

#[divan::bench(sample_count = 20)]
fn random_write_steady(bencher: Bencher<'_, '_>) {
    used_drive(bencher, 0);
}

/// Overwriting in order, in 4 KiB units.
#[divan::bench(sample_count = 20)]
fn sequential_write(bencher: Bencher<'_, '_>) {
    let mut drive = small_drive();
    let user = drive.geometry().bytes();
    let job = job(Pattern::Sequential, 0, user, user);
    let units = ItemsCount::new(user / 4096);
    bencher.counter(units).bench_local(|| run(&mut drive, &job, &mut Unobserved));
}

/// The loop alone: a drive that answers after a fixed time.
#[divan::bench(sample_count = 20)]
fn the_loop_alone(bencher: Bencher<'_, '_>) {
    let mut drive = Null::new(1 << 21, Nanos::from_micros(10.0));
    let job = job(Pattern::Random, 100, 1 << 30, IOS * 4096);
    bencher.counter(ItemsCount::new(IOS)).bench_local(|| run(&mut drive, &job, &mut Unobserved));
}

/// Recording a latency.
#[divan::bench(sample_count = 20)]
fn histogram(bencher: Bencher<'_, '_>) {
    let mut histogram = Histogram::new();
    bencher.counter(ItemsCount::new(IOS)).bench_local(|| {
        (0..IOS).for_each(|i| histogram.record(black_box(i * 37 % 5_000_000)));
    });
}
