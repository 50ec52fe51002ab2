//! `fourcorners serve`: a virtual drive behind a socket, for programs that know nothing of it; or a real one, to record it.

mod door;
mod files;
mod pass_through;

use std::io::{Write, stdout};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args as ClapArgs, ValueEnum};
use fourcorners_catalogue::Model;
use fourcorners_drive::config::TrimMode;
use fourcorners_drive::{Geometry, Hdd, Nanos, Ssd, Target};
use fourcorners_lab::array::{ArrayProfile, Several};
use fourcorners_lab::state;
use fourcorners_linux::make_realtime;
use fourcorners_machine::host;
use fourcorners_serve::nbd::Export;
use fourcorners_serve::{
    At, Control, DataRecording, DriveCounters, FaultSpec, Faults, Pace, Recording, Report, Server,
    Settings, Turn, TurnSettings,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use door::{Door, DoorArg, door_of, warn_of_the_floor, way};
use files::contents;

use super::address::address;
use super::interrupt::Interrupt;
use super::outcome::{End, Failure};
use super::served::{self, ServedAs, ServedDrive, ServedTarget};
use super::terminal::say;
use super::then_try;
use super::trace::candidates_named;
#[cfg(not(feature = "web"))]
use super::web::{About, PageError, ServedPage};
#[cfg(feature = "web")]
use crate::web::{About, PageError, ServedPage};

/// Of the memory that is available, contents may take so much.
const MEMORY_PERCENT: u64 = 75;

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  fourcorners serve crucial-m4-256gb --at unix:m4.sock
  nbdinfo 'nbd+unix:///?socket=m4.sock'
  fourcorners serve crucial-m4-256gb --at tcp:127.0.0.1:10809 --contents m4.img

  # For QEMU's vhost-user-blk-pci; docs/SERVE.md has its options
  fourcorners serve crucial-m4-256gb --at vhost-user:m4.sock

  # As /dev/ublkb0, for mkfs, mount and any program
  sudo fourcorners serve crucial-m4-256gb --at ublk

  # A real drive or file, to record what is done to it
  fourcorners serve ./vm.img --destroy ./vm.img --record vm.trace")]
/// Serve a virtual drive to real programs over NBD, or to a virtual machine, with its contents and its times; or pass a
/// real drive on, to record what is done to it
pub(super) struct ServeArgs {
    /// A drive of the catalogue, a profile (./mine.toml), or several as one: raid5:4xcrucial-m4-256gb,
    /// cache:crucial-m4-64gb+wd-velociraptor-300gb, or a file of such (./nas.toml). Or an existing
    /// device or file, which is passed on with its own times: only --record and the options of who may connect apply, and
    /// it is read only unless --destroy names it
    #[arg(value_name = "DRIVE")]
    drive: String,

    /// Where clients connect: unix:PATH, for you only, or tcp:HOST:PORT, over NBD; addresses that other machines can reach
    /// need --tls. vhost-user:PATH: where a virtual machine with shared memory finds a virtio-blk device, without NBD. ublk:
    /// as a block device of this machine, for root, where the kernel has ublk_drv
    #[arg(long, value_name = "ADDRESS", default_value = "unix:fourcorners.sock")]
    at: At,

    /// Encrypt, and let in only clients with a certificate of the authority in DIR: ca-cert.pem, server-cert.pem and
    /// server-key.pem, as nbdkit and QEMU have them
    #[arg(long, value_name = "DIR")]
    tls: Option<PathBuf>,

    /// Where the bytes are: memory, as long as it is served, or a sparse file of the drive's size, which is
    /// created if it is not there [default: memory]
    #[arg(long, value_name = "memory|FILE")]
    contents: Option<PathBuf>,

    /// Allow clients to overwrite this file, which --contents names and serve did not create, or this real drive
    #[arg(long, value_name = "FILE")]
    destroy: Vec<String>,

    /// Allow it also if it carries partitions or a file system
    #[arg(long, value_name = "FILE")]
    force: Vec<String>,

    /// The drive's state, from fourcorners age
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,

    /// How time goes by: real; xN, N times as slow, for drives faster than a socket; virtual: as soon as clients have nothing
    /// more to ask (0.2 ms), times only in the report and the recording [default: real]
    #[arg(long, value_name = "real|xN|virtual")]
    time: Option<Pace>,

    /// Record all I/Os in this new file, as a trace: trace replay takes it
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Log what is written in this new file, in the format of the kernel's dm-log-writes: crash cuts the power with it
    #[arg(long, value_name = "FILE", requires = "record")]
    record_data: Option<PathBuf>,

    /// Send each answer this many microseconds early: as long as requests and answers are on their way; auto measures it
    /// [default: auto over a unix socket; 0 over TCP and in virtual time]
    #[arg(long, value_name = "auto|US", value_parser = door_of, allow_negative_numbers = true)]
    door: Option<DoorArg>,

    /// realtime: answer before whatever else this machine has to do (SCHED_FIFO); needs root, CAP_SYS_NICE or ulimit -r 1
    #[arg(long, value_enum, default_value = "normal")]
    priority: Priority,

    /// Inject a fault: KIND@WHEN[,FROM-TO]. KIND: eio-read, eio-write (its data stored), eio-write-dropped, eio-flush,
    /// latency=+20ms, latency=x8, read-only, dead, bit-flip. WHEN: n=1000 (the 1000th such request), each=100, p=0.001,
    /// t=5s (of the drive's time, from the first request). May be given again
    #[arg(long, value_name = "FAULT")]
    fault: Vec<FaultSpec>,

    /// Seed of the faults that are drawn, with --fault or --control [default: 1]
    #[arg(long, allow_negative_numbers = true, value_parser = crate::cli::args::seed)]
    seed: Option<u64>,

    /// Take commands at this unix socket, for you only, a line each: status, fault FAULT, clear [FAULT], snapshot NAME,
    /// rollback NAME, drop NAME, commit, snapshots, cut [CLASS] [SEED] (docs/SERVE.md)
    #[arg(long, value_name = "PATH")]
    control: Option<PathBuf>,

    /// Answer flushes at once and do nothing for them, nor force a write: cut lost-flush at --control then takes what was
    /// flushed
    #[arg(long)]
    ignore_flushes: bool,

    /// Refuse writes
    #[arg(long)]
    read_only: bool,

    /// End when the last client has disconnected and none has come for so many seconds, 2 if nothing is said: fio
    /// connects once to ask how large the drive is, and again to work
    #[arg(
        long,
        value_name = "SECONDS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "2",
        value_parser = grace_of
    )]
    until_last_disconnect: Option<Nanos>,

    /// Print an event a second and one in the end, JSON in a line each, instead of words in the end
    #[arg(long, value_name = "json", value_parser = ["json"])]
    progress: Option<String>,

    /// Show what is done on a page of this machine's browser, at this loopback address or port (port 0: any that is free)
    #[arg(
        long,
        value_name = "ADDRESS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "127.0.0.1:8643",
        value_parser = address
    )]
    web: Option<SocketAddr>,

    /// When serving ends, have these drives (a,b: of the catalogue, arrays, caches, profiles) do what was recorded, or all of
    /// the catalogue, and rank them, as trace replay RECORDING all does
    #[arg(long, value_name = "all|DRIVE,..", value_delimiter = ',', requires = "record")]
    then_try: Vec<String>,

    /// Change a parameter of the drive, for example --set trim.supported=false
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl ServeArgs {
    fn pace(&self) -> Pace {
        self.time.unwrap_or(Pace::Dilated(1.0))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Priority {
    Normal,
    Realtime,
}

fn grace_of(text: &str) -> Result<Nanos, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.0..=86_400.0).contains(seconds));
    seconds
        .map(|seconds| Nanos::from_micros(seconds * 1e6))
        .ok_or_else(|| "give seconds from 0 to 86400".into())
}

pub(super) fn run(args: &ServeArgs) -> Result<End, Failure> {
    // What is wrong is said before anything is served.
    files::check(args).map_err(Failure::Usage)?;
    let to_try = match args.then_try.is_empty() {
        true => Vec::new(),
        false => candidates_named(&args.then_try)
            .map_err(|why| Failure::Usage(format!("--then-try: {why}")))?,
    };
    let (end, report) = served(args)?;
    match (&args.record, report.recorded) {
        (Some(recording), Some(recorded)) if !to_try.is_empty() => {
            match then_try::run(recording, &recorded, to_try, args.progress.is_some())? {
                End::Done => Ok(end),
                incomplete => Ok(incomplete),
            }
        }
        _ => Ok(end),
    }
}

/// Serves until the end. How it ended, and the report of all.
fn served(args: &ServeArgs) -> Result<(End, Report), Failure> {
    let ServedDrive { as_sold, bare } = match ServedTarget::find(&args.drive, &args.set)? {
        ServedTarget::Real(target) => return pass_through::served(args, *target),
        ServedTarget::Drive(drive) => drive,
        ServedTarget::Several(profile) => return served_as_one(args, &profile),
    };
    let about = ServedAs::drive(&bare);
    let usage = |error: &dyn std::fmt::Display| Failure::Usage(error.to_string());
    match &bare.model {
        Model::Ssd(model) => {
            let ssd = served::ssd(model, &as_sold, args.state.as_deref())?;
            let settings = TurnSettings {
                trims: model.trim.supported,
                ignores_trims: model.trim.mode == Some(TrimMode::Ignored),
                compresses: model.compression.is_some(),
                ..settings(args)
            };
            let before = ssd.counters();
            let probe = Ssd::new(model).map_err(|error| usage(&error))?;
            let drive = Served {
                probe: Some(probe),
                counters: Box::new(move |ssd: &Ssd| Some(DriveCounters::since(ssd, &before))),
                expect_power_cuts: Some(Turn::expect_power_cuts),
                ..Served::of_model(ssd, settings)
            };
            serve(args, &about, drive)
        }
        Model::Hdd(model) => {
            if let Some(path) = &args.state {
                state::check(path, &as_sold).map_err(|error| usage(&error))?;
            }
            let hdd = Hdd::new(model).map_err(|error| usage(&error))?;
            serve(args, &about, Served::of_model(hdd, settings(args)))
        }
    }
}

/// The same of several drives as one.
fn served_as_one(args: &ServeArgs, profile: &ArrayProfile) -> Result<(End, Report), Failure> {
    if let Some(path) = &args.state {
        let why = format!(
            "--state {}: it is of one drive, and {} is several: leave it out",
            path.display(),
            profile.name
        );
        return Err(Failure::Usage(why));
    }
    fn one<T: Target + Clone + 'static>(
        args: &ServeArgs,
        profile: &ArrayProfile,
        target: T,
    ) -> Result<(End, Report), Failure> {
        let settings = TurnSettings { trims: profile.takes_trim(), ..settings(args) };
        let probe = Some(target.clone());
        let drive = Served { probe, ..Served::of_model(target, settings) };
        serve(args, &ServedAs::several(profile), drive)
    }
    match profile.several() {
        Several::Array(array) => one(args, profile, *array),
        Several::Cache(cache) => one(args, profile, *cache),
    }
}

/// What is asked of any drive.
fn settings(args: &ServeArgs) -> TurnSettings {
    TurnSettings {
        records: args.record.is_some(),
        logs_data: args.record_data.is_some(),
        ignores_flushes: args.ignore_flushes,
        ..TurnSettings::default()
    }
}

/// What tells the counters of a drive, where it has some.
type Counters<T> = Box<dyn Fn(&T) -> Option<DriveCounters>>;

/// Makes a drive ready, with what it holds.
type MakeTurn<T> = Box<dyn FnOnce(&ServeArgs) -> Result<Turn<T>, Failure>>;

/// A drive of one kind.
struct Served<T: Target> {
    geometry: Geometry,
    trims: bool,
    turn: MakeTurn<T>,
    /// A new one, to ask how fast it is.
    probe: Option<T>,
    counters: Counters<T>,
    /// Of one whose power can be cut.
    expect_power_cuts: Option<fn(&mut Turn<T>)>,
    /// Of one that can be steered.
    steer: Option<fn(&mut Server<T>, Control, u64)>,
    /// Of a real one: readable when it may have an answer.
    readiness: Option<OwnedFd>,
}

impl<T: Target + Clone + 'static> Served<T> {
    /// A model without counters, power cuts or a probe; whoever has them adds them.
    fn of_model(target: T, settings: TurnSettings) -> Served<T> {
        let geometry = target.geometry();
        Served {
            geometry,
            trims: settings.trims,
            turn: Box::new(move |args| {
                Ok(Turn::new(target, contents(args, geometry.bytes())?, settings))
            }),
            probe: None,
            counters: Box::new(|_: &T| None),
            expect_power_cuts: None,
            steer: Some(Server::steer),
            readiness: None,
        }
    }
}

fn serve<T: Target + 'static>(
    args: &ServeArgs,
    profile: &ServedAs,
    drive: Served<T>,
) -> Result<(End, Report), Failure> {
    let Served { geometry, trims, turn, probe, counters, expect_power_cuts, steer, readiness } =
        drive;
    let is_real = readiness.is_some();
    let export = Export {
        name: profile.name.clone(),
        description: profile.title.clone(),
        bytes: geometry.bytes(),
        block_bytes: geometry.logical_block_bytes,
        read_only: args.read_only,
        trims,
        rotational: profile.rotational,
    };
    if let Some(why) = args.fault.iter().find_map(|fault| fault.beyond(geometry.bytes())) {
        return Err(Failure::Usage(format!("--fault {why}")));
    }
    if args.seed.is_some() && args.fault.is_empty() && args.control.is_none() {
        return Err(Failure::Usage(
            "--seed draws faults, and there are none: give --fault or --control, or leave it out"
                .into(),
        ));
    }
    let door = Door::open(args, &export, geometry.queue_depth)?;
    let address = door.name();
    let (name, size) = (&profile.name, fourcorners_words::size(geometry.bytes()));
    let on_page = About {
        name: name.clone(),
        title: profile.title.clone(),
        size: size.clone(),
        bytes: geometry.bytes(),
        uri: address.clone(),
    };
    let page = args.web.map(|listen| ServedPage::open(listen, on_page)).transpose();
    let page = page.map_err(|error: PageError| Failure::Usage(error.to_string()))?;
    let mut turn = turn(args)?;
    if args.priority == Priority::Realtime {
        // Before the door is measured, since it is what clients will meet.
        make_realtime().map_err(|error| {
            let needs = "it needs root, CAP_SYS_NICE or a limit (ulimit -r) of at least 1";
            Failure::Usage(format!("--priority realtime: {error}: {needs}"))
        })?;
    }
    let way = if is_real { Nanos::ZERO } else { way(args)? };
    let as_json = args.progress.is_some();
    let settings = Settings {
        export,
        pace: args.pace(),
        door: way,
        // Once a block device has gone nobody else can come.
        until_last_disconnect: match args.at {
            At::BlockDevice => Some(Nanos::ZERO),
            At::Socket(_) => args.until_last_disconnect,
        },
        every: (as_json || args.web.is_some()).then_some(Nanos::from_secs(1)),
    };
    if !args.fault.is_empty() || args.control.is_some() {
        turn.inject(Faults::new(&args.fault, args.seed.unwrap_or(1)));
    }
    // A block device that the kernel has lost does not come back. Whoever may cut the power, and whoever wants to see what a cut would take.
    if let (true, Some(expect_power_cuts)) = (
        args.at != At::BlockDevice && (args.control.is_some() || args.web.is_some()),
        expect_power_cuts,
    ) {
        expect_power_cuts(&mut turn);
    }
    let mut server = Server::new(turn, settings);
    server.tell_counters(counters);
    server.complain(|line| say(&format!("fourcorners: {line}")));
    if let Some(readiness) = readiness {
        server.look_at_drive_when(readiness);
    }
    if let (Some(path), Some(steer)) = (&args.control, steer) {
        let control = Control::open(path).map_err(|error| Failure::Usage(error.to_string()))?;
        let available = host::available_memory_bytes().unwrap_or(u64::MAX / 100);
        steer(&mut server, control, available / 100 * MEMORY_PERCENT);
    }
    if let Some(path) = &args.record {
        let about = about(args, profile);
        let recording = Recording::create(path, &about);
        server.record(recording.map_err(|error| Failure::Usage(error.to_string()))?);
    }
    if let Some(path) = &args.record_data {
        let data = DataRecording::create(path);
        server.log_data(data.map_err(|error| {
            // The recording alone was not asked for, and nothing is in it.
            args.record.as_ref().map(std::fs::remove_file);
            Failure::Usage(error.to_string())
        })?);
    }
    // A second signal ends us at once.
    let _interrupt = Interrupt::listen()?;
    let (stop, signals) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::low_level::pipe::register(signal, signals.try_clone()?)?;
    }
    server.stop_at(stop.into());
    door.serve(&mut server)?;
    let how = match is_real {
        true => "a real drive: what it does and when is its own".into(),
        false => {
            let host = match args.set.iter().any(|set| set.trim_start().starts_with("host.")) {
                true => "[host] is as set, beside the real host in front of the drive",
                false => "[host] of the profile is 0: the real host is in front of the drive now",
            };
            format!("time {}; door {:.1} us; {host}", args.pace(), way.as_micros())
        }
    };
    let begin = format!("{name} ({size}) at {address} (Ctrl-C ends it)\n{how}");
    let begin = match &page {
        Some(page) => format!("{begin}\npage: http://{}/", page.address()),
        None => begin,
    };
    if as_json {
        begin.lines().for_each(say);
    } else {
        writeln!(stdout(), "{begin}")?;
    }
    if let (Some(probe), Pace::Dilated(factor)) = (probe, args.pace()) {
        warn_of_the_floor(probe, factor, way);
    }
    let observe = |report: &Report| {
        if let Some(page) = &page {
            page.show(report);
        }
        if as_json && let Ok(line) = serde_json::to_string(report) {
            // Nobody reading it is no reason not to serve.
            let _ = writeln!(stdout(), "{line}");
        }
    };
    let (_, report) = server.run(observe)?;
    if args.at == At::BlockDevice && report.connections.broken > 0 {
        // Why has been said.
        return Err(anyhow!("{address} could not be served to its end").into());
    }
    if !as_json {
        write!(stdout(), "{}", report.words())?;
    }
    let lost = report.recorded.as_ref().is_some_and(|it| it.lost > 0 || it.error.is_some());
    let data = report.recorded_data.as_ref();
    match lost || data.is_some_and(|it| it.lost > 0 || it.error.is_some()) {
        true => Ok((End::Incomplete, report)),
        false => Ok((End::Done, report)),
    }
}

/// What a recording says of where it is from.
fn about(args: &ServeArgs, profile: &ServedAs) -> String {
    serde_json::json!({
        "recorded_by": format!("fourcorners {}", env!("CARGO_PKG_VERSION")),
        "drive": profile.name,
        "profile": profile.hash,
        "state": args.state.as_ref().map(|path| path.display().to_string()),
        "time": args.pace().to_string(),
    })
    .to_string()
}
