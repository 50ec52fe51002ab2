//! From a target as typed to one that was found: names are resolved, and everything that may be
//! refused is refused before anything is created or opened for writing.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use fourcorners_catalogue::{self as catalogue, CatalogueError, HostController, Profile};
use fourcorners_lab::array::ArrayProfile;
use fourcorners_lab::device_under_test::{DeviceUnderTest, place};
use fourcorners_lab::{memory, state};
use fourcorners_linux::guard::{self, LEAST_BYTES, Permission, RealTarget};

use super::args::TargetArgs;
use super::quick::args::QuickArgs;
use super::review::args::ReviewArgs;
use super::run::args::RunArgs;
use super::size::parse_size;

/// Targets of a replay as typed, with what goes for them.
pub(super) struct Asked<'a> {
    pub(super) targets: &'a [String],
    pub(super) on: &'a TargetArgs,
    /// Whether real ones are written, so that they have to be named for it.
    pub(super) writes: bool,
}

/// How virtual drives differ from their profiles.
#[derive(Clone, Copy)]
struct Changes<'a> {
    host: Option<&'a HostController>,
    set: &'a [String],
}

/// Finds all targets; the first that may not be tested refuses the whole review.
pub(super) fn plan(args: &ReviewArgs) -> Result<Vec<DeviceUnderTest>, String> {
    // What is only to be told of need not be named.
    let writes = !args.dry_run;
    let mut planned = find_all(&Asked { targets: &args.targets, on: &args.on, writes })?;
    if let Some(state) = &args.state {
        planned = vec![used(planned, state)?];
    }
    // A review begins no more of them than have room.
    check_memory(&planned, 1)?;
    Ok(planned)
}

/// Why targets that were planned to be read only could not be written; one reason for each that could not.
pub(super) fn write_refusals(planned: &[DeviceUnderTest], on: &TargetArgs) -> Vec<String> {
    let permission = permission(on);
    let refusal = |target: &DeviceUnderTest| match target {
        DeviceUnderTest::ToRead(target) => guard::may_write(target, &permission).err(),
        _ => None,
    };
    planned.iter().filter_map(refusal).map(|refusal| refusal.to_string()).collect()
}

/// Finds all targets that are asked for, with one drive each.
pub(super) fn plan_asked(asked: &Asked<'_>) -> Result<Vec<DeviceUnderTest>, String> {
    let planned = find_all(asked)?;
    check_memory(&planned, 1)?;
    Ok(planned)
}

fn find_all(asked: &Asked<'_>) -> Result<Vec<DeviceUnderTest>, String> {
    let on = asked.on;
    let planned = find_each(asked.targets.iter().map(|target| (target, asked.writes)), on)?;
    if let (Some(host), Some(real)) = (&on.host, planned.iter().find(|it| it.is_real())) {
        let name = real.name();
        return Err(format!(
            "--host {host} is for virtual drives, and {name} is not one: leave it out"
        ));
    }
    Ok(planned)
}

/// What was named to be overwritten.
fn permission(on: &TargetArgs) -> Permission {
    Permission { destroy: on.destroy.clone(), force: on.force.clone() }
}

/// Finds targets, each with whether it is written.
fn find_each<'a>(
    targets: impl Iterator<Item = (&'a String, bool)>,
    on: &TargetArgs,
) -> Result<Vec<DeviceUnderTest>, String> {
    let size = on.size.as_deref().map(parse_size).transpose()?;
    let host = host_controller(on.host.as_deref())?;
    let changes = Changes { host: host.as_ref(), set: &on.set };
    let permission = permission(on);
    let targets: Vec<(&String, bool)> = targets.collect();
    names_are_there(on, &targets)?;
    let mut planned: Vec<DeviceUnderTest> = Vec::new();
    for (target, written) in targets {
        let found = match written {
            false => find_to_read(target, size, changes, &permission)?,
            true => find(target, size, changes, &permission)?,
        };
        if let Some(other) = planned.iter().find(|other| other.overlaps(&found)) {
            let name = found.name();
            return Err(match found {
                // Figures go by the name in the profile; two of one name could not be told apart.
                DeviceUnderTest::Virtual(_) | DeviceUnderTest::Array(_) if *target != name => {
                    format!(
                        "{target} is a second drive called {name}: change the name in one of them"
                    )
                }
                _ if found.is_same(other) => format!("{target} is named twice: name it once"),
                _ => format!(
                    "{target} and {} are the same drive or parts of it: name one of them",
                    other.name()
                ),
            });
        }
        planned.push(found);
    }
    let any = |wanted: fn(&DeviceUnderTest) -> bool| planned.iter().any(wanted);
    if size.is_some() && !any(|target| target.is_real()) {
        return Err("--size is the size of a file, and no target is one: leave it out".into());
    }
    if !on.set.is_empty() && !any(|target| !target.is_real()) {
        return Err("--set changes virtual drives, and no target is one: leave it out".into());
    }
    if !any(|target| target.is_real()) {
        nothing_to_destroy(&on.destroy, &on.force, ALL_ARE_MODELS)?;
    }
    Ok(planned)
}

/// Refuses a path that was named for destruction and leads nowhere: it was meant for one of the targets.
fn names_are_there(on: &TargetArgs, targets: &[(&String, bool)]) -> Result<(), String> {
    let named = |names: &[String], option: &str| {
        let is_missing = |name: &&String| {
            let path = Path::new(name);
            let missing = path.symlink_metadata().map_err(|error| error.kind());
            // A target that is not there is created, or refused by its own name.
            let is_target = || targets.iter().any(|(it, _)| place(Path::new(it)) == place(path));
            let leads_nowhere = missing.is_err_and(|kind| kind == ErrorKind::NotFound);
            name.contains('/') && leads_nowhere && !is_target()
        };
        match names.iter().find(is_missing) {
            Some(name) => Err(format!("{option} {name}: there is no such file")),
            None => Ok(()),
        }
    };
    named(&on.destroy, "--destroy").and_then(|()| named(&on.force, "--force"))
}

/// Why nothing can be destroyed where all targets are models.
pub(super) const ALL_ARE_MODELS: &str = "is for real drives, and no target is one";

/// Refuses what is named for destruction where nothing can be destroyed; why the option does not apply.
pub(super) fn nothing_to_destroy(
    destroy: &[String],
    force: &[String],
    why: &str,
) -> Result<(), String> {
    match (destroy, force) {
        ([], []) => Ok(()),
        ([], _) => Err(format!("--force {why}: leave it out")),
        _ => Err(format!("--destroy {why}: leave it out")),
    }
}

/// The one drive that is to take a state.
fn used(mut planned: Vec<DeviceUnderTest>, file: &Path) -> Result<DeviceUnderTest, String> {
    match (planned.pop(), planned.is_empty()) {
        (Some(DeviceUnderTest::Virtual(profile)), true) => {
            state::check(file, &profile).map_err(|error| error.to_string())?;
            Ok(DeviceUnderTest::Used(profile, file.to_path_buf()))
        }
        _ => Err("--state is the state of one virtual drive: give it as the only target".into()),
    }
}

/// Refuses drives that have no room in memory, where so many are in it at a time.
fn check_memory(planned: &[DeviceUnderTest], at_a_time: usize) -> Result<(), String> {
    let needs = planned.iter().map(DeviceUnderTest::memory_bytes).collect();
    memory::check_memory(needs, at_a_time).map_err(|error| error.to_string())
}

/// A virtual drive that is large enough for its figures to mean something, as a real one must be.
fn large_enough(profile: Profile) -> Result<DeviceUnderTest, String> {
    let bytes = profile.capacity_bytes();
    match bytes < LEAST_BYTES {
        true => Err(format!(
            "{} is too small with {bytes} bytes: set capacity.sectors to at least {}",
            profile.name,
            LEAST_BYTES / 512
        )),
        false => Ok(DeviceUnderTest::Virtual(Box::new(profile))),
    }
}

/// A virtual drive as typed.
pub(super) struct VirtualDrive<'a> {
    /// A name of the catalogue or a profile.
    pub(super) name: &'a str,
    pub(super) host: Option<&'a str>,
    pub(super) set: &'a [String],
    /// What is done to virtual drives only: `aged`.
    pub(super) why: &'static str,
}

/// The virtual drive of a name or a profile.
pub(super) fn find_virtual(asked: &VirtualDrive<'_>) -> Result<Box<Profile>, String> {
    let target = asked.name;
    let host = host_controller(asked.host)?;
    let changes = Changes { host: host.as_ref(), set: asked.set };
    // Of a real one it is not asked whether it may be written.
    match find_to_read(target, None, changes, &Permission::default())? {
        DeviceUnderTest::Virtual(profile) => {
            let planned = [DeviceUnderTest::Virtual(profile.clone())];
            check_memory(&planned, 1)?;
            Ok(profile)
        }
        DeviceUnderTest::Array(_) => {
            Err(format!("{target} is an array: only single drives are {}", asked.why))
        }
        _ => Err(format!("{target} is a real drive: only virtual ones are {}", asked.why)),
    }
}

/// The device or file that is there by this name, unless it is a virtual drive's. It may only be read so far.
pub(super) fn find_real(target: &str) -> Option<Box<RealTarget>> {
    let nothing = Changes { host: None, set: &[] };
    match find_to_read(target, None, nothing, &Permission::default()) {
        Ok(DeviceUnderTest::ToRead(real)) => Some(real),
        // What is wrong with it is said by whoever looks for a virtual drive.
        _ => None,
    }
}

fn host_controller(name: Option<&str>) -> Result<Option<HostController>, String> {
    name.map(catalogue::host).transpose().map_err(|error| error.to_string())
}

/// A profile's path as it is typed: with a folder, so that it is taken for a file and not for a name.
pub(super) fn typed_profile(path: &Path) -> PathBuf {
    match path.components().count() {
        1 => Path::new(".").join(path),
        _ => path.to_path_buf(),
    }
}

fn find(
    target: &str,
    size: Option<u64>,
    changes: Changes<'_>,
    permission: &Permission,
) -> Result<DeviceUnderTest, String> {
    let Changes { host, set } = changes;
    let words = |error: CatalogueError| error.to_string();
    if let Some(array) = several(target, changes)? {
        return Ok(array);
    }
    if target.ends_with(".toml") {
        return large_enough(
            catalogue::from_file_behind(Path::new(target), host, set).map_err(words)?,
        );
    }
    let path = Path::new(target);
    let is_path = target.contains('/') || path.symlink_metadata().is_ok();
    match catalogue::built_in_behind(target, host, set) {
        Ok(profile) => large_enough(profile),
        Err(CatalogueError::Unknown { .. }) if is_path => real(path, size, permission),
        // Rather a drive with a slip in its name than a file that is to be created.
        Err(CatalogueError::Unknown { nearest: Some(near), .. }) if size.is_some() => Err(format!(
            "there is no drive \"{target}\" in the catalogue; did you mean \"{near}\"? A file of \
             that name is created as ./{target}"
        )),
        Err(CatalogueError::Unknown { .. }) if size.is_some() => real(path, size, permission),
        Err(error) => Err(error.to_string()),
    }
}

/// Several drives as one, of a name or of a file; `None` of a single drive.
fn several(
    target: &str,
    Changes { host, set }: Changes<'_>,
) -> Result<Option<DeviceUnderTest>, String> {
    let found = ArrayProfile::find(target, host, set).transpose();
    let found = found.map_err(|error| error.to_string())?;
    Ok(found.map(|array| DeviceUnderTest::Array(Box::new(array))))
}

/// A device or a file that is there, or one that can be created.
fn real(
    path: &Path,
    size: Option<u64>,
    permission: &Permission,
) -> Result<DeviceUnderTest, String> {
    let there = guard::inspect(path).and_then(|target| {
        guard::may_write(&target, permission)?;
        Ok(target)
    });
    match (there, size) {
        (Ok(target), None) => Ok(DeviceUnderTest::Real(Box::new(target), permission.clone())),
        // A scratch file of an earlier review, of the size that is asked for.
        (Ok(target), Some(bytes)) if target.geometry.bytes() == whole_blocks(&target, bytes) => {
            Ok(DeviceUnderTest::Real(Box::new(target), permission.clone()))
        }
        (Err(refusal), None) => Err(refusal.to_string()),
        (_, Some(bytes)) => {
            guard::may_create(path, bytes).map_err(|refusal| refusal.to_string())?;
            Ok(DeviceUnderTest::New(path.to_path_buf(), bytes))
        }
    }
}

/// `bytes` in whole blocks of the target, as its geometry counts them.
fn whole_blocks(target: &RealTarget, bytes: u64) -> u64 {
    bytes - bytes % u64::from(target.geometry.logical_block_bytes)
}

/// The target of a quick card.
pub(super) struct QuickTarget {
    pub(super) device: DeviceUnderTest,
    /// What was not named to be overwritten is only read.
    pub(super) reads_only: bool,
    /// The scratch file that is made in a directory, and removed.
    pub(super) scratch: Option<PathBuf>,
}

/// The name of the scratch file in a directory: the same each time, so that results can be compared.
const QUICK_SCRATCH: &str = "fourcorners-quick.scratch";

/// The target of a quick card: in a directory a scratch file of `bytes`, unless a size is given.
pub(super) fn plan_quick(args: &QuickArgs, bytes: u64) -> Result<QuickTarget, String> {
    let (target, on) = (&args.target, &args.on);
    let path = Path::new(target);
    let in_directory = path.is_dir();
    if in_directory || (is_device_or_file(target, on) && on.size.is_none()) {
        for (given, option) in [(!on.set.is_empty(), "--set"), (on.host.is_some(), "--host")] {
            if given {
                return Err(format!(
                    "{option} is for virtual drives, and {target} is not one: leave it out"
                ));
            }
        }
    }
    if in_directory {
        let why = format!("is for a device or a file, and {target} is a folder");
        nothing_to_destroy(&on.destroy, &on.force, &why)?;
        let size = on.size.as_deref().map(parse_size).transpose()?.unwrap_or(bytes);
        let scratch = path.join(QUICK_SCRATCH);
        let device =
            real(&scratch, Some(size), &Permission::default()).map_err(|why| {
                match scratch.symlink_metadata() {
                    Ok(_) => {
                        let scratch = scratch.display();
                        format!(
                            "{scratch} is there already, of another run or left of one: remove it"
                        )
                    }
                    Err(_) => format!("{why}; --size gives the size of the scratch file"),
                }
            })?;
        return Ok(QuickTarget { device, reads_only: false, scratch: Some(scratch) });
    }
    let named = !on.destroy.is_empty() || !on.force.is_empty() || on.size.is_some();
    if !named && is_device_or_file(target, on) {
        let found = guard::inspect(path).map_err(|refusal| refusal.to_string())?;
        // A scratch file of ours may be written without being named.
        let nothing = Permission::default();
        if guard::may_write(&found, &nothing).is_err() {
            let device = DeviceUnderTest::ToRead(Box::new(found));
            return Ok(QuickTarget { device, reads_only: true, scratch: None });
        }
    }
    let asked = Asked { targets: std::slice::from_ref(target), on, writes: true };
    let device = plan_asked(&asked)?.pop().ok_or("no target was found")?;
    Ok(QuickTarget { device, reads_only: false, scratch: None })
}

/// Whether it is there, and no model of that name.
fn is_device_or_file(target: &str, on: &TargetArgs) -> bool {
    let is_model = target.ends_with(".toml")
        || !matches!(
            catalogue::built_in_behind(target, None, &on.set),
            Err(CatalogueError::Unknown { .. })
        );
    !is_model && Path::new(target).metadata().is_ok()
}

/// The targets of a job file, each with whether its jobs change it.
pub(super) fn plan_run(
    args: &RunArgs,
    targets: &[(String, bool)],
) -> Result<Vec<DeviceUnderTest>, String> {
    let targets = targets.iter().map(|(target, changed)| (target, *changed));
    let mut planned = find_each(targets, &args.on)?;
    if planned.iter().all(DeviceUnderTest::is_real) && args.on.host.is_some() {
        return Err("--host is for virtual drives, and no target is one: leave it out".into());
    }
    if let Some(state) = &args.state {
        planned = vec![used(planned, state)?];
    }
    let at_a_time = std::thread::available_parallelism().map_or(1, usize::from);
    check_memory(&planned, at_a_time)?;
    Ok(planned)
}

/// What is only read needs no permission, unless it has to be created first.
fn find_to_read(
    target: &str,
    size: Option<u64>,
    changes: Changes<'_>,
    permission: &Permission,
) -> Result<DeviceUnderTest, String> {
    if let Some(array) = several(target, changes)? {
        return Ok(array);
    }
    let path = Path::new(target);
    let is_path = target.contains('/') || path.symlink_metadata().is_ok();
    // A name of the catalogue is that drive, whether it is written or only read.
    let Changes { host, set } = changes;
    let is_model = target.ends_with(".toml")
        || !matches!(
            catalogue::built_in_behind(target, host, set),
            Err(CatalogueError::Unknown { .. })
        );
    if is_path && !is_model && path.metadata().is_ok() {
        if size.is_some() {
            return find(target, size, changes, permission)
                .map_err(|why| format!("{why} (or leave --size out: the jobs only read it)"));
        }
        let found = guard::inspect(path).map_err(|refusal| refusal.to_string())?;
        return Ok(DeviceUnderTest::ToRead(Box::new(found)));
    }
    find(target, size, changes, permission)
}
