//! A target, and the plan of each method on it.

use fourcorners_linux::device::{Erase, EraseWith};
use fourcorners_record::{Host, TargetInfo};

use super::{CampaignError, ChosenMethod};
use crate::device_under_test::{DeviceError, DeviceUnderTest, Ready};
use crate::drive::Drive;
use crate::memory::Need;
use crate::review::{Phase, Protocol, Reviewed, Scope, StateCache, plans, reading, seed_of};
use fourcorners_catalogue::Model;

/// How targets are reviewed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Settings {
    /// Seconds instead of minutes, and no used state.
    pub quick: bool,
    /// Percent of a target's space, at its end, that is never touched.
    pub spare_percent: f64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Most I/Os of each trace of the storage bench; `None` for what the method has.
    pub most_ios: Option<u64>,
    /// How a real target is purged, if not by a discard.
    pub erase: Option<EraseWith>,
    /// Nothing is written: what would be is left out, and said.
    pub reads_only: bool,
}

impl Default for Settings {
    /// At full length, everywhere, with seed 1.
    fn default() -> Settings {
        Settings {
            quick: false,
            spare_percent: 0.0,
            seed: 1,
            most_ios: None,
            erase: None,
            reads_only: false,
        }
    }
}

/// What is to be done to a target.
#[derive(Clone, Debug)]
pub struct Session {
    /// The target.
    pub target: DeviceUnderTest,
    /// The plan of each method, in the order they are carried out.
    pub plans: Vec<(Protocol, Vec<Phase>)>,
    /// What they were made for.
    pub scope: Scope,
    /// How a real target is purged, if not by a discard.
    pub erase: Option<Erase>,
    /// Who reviews it, if that is to be said.
    pub author: Option<String>,
}

impl Session {
    /// The plans of these methods for this target.
    ///
    /// # Errors
    /// [`CampaignError`] where one does not fit it, or where it cannot be purged as asked for. Our own methods fit
    /// all targets.
    pub fn new(
        target: DeviceUnderTest,
        methods: &[ChosenMethod],
        settings: &Settings,
    ) -> Result<Session, CampaignError> {
        let depth = methods.iter().map(ChosenMethod::depth).max().unwrap_or(0);
        let Settings { quick, spare_percent, seed, most_ios, erase, reads_only } = *settings;
        let scope = Scope {
            geometry: target.reviewed_geometry(depth),
            spare_percent,
            quick,
            seed,
            medium: target.medium(),
            most_ios,
        };
        let protocols = methods.iter().map(|method| method.on(&target));
        let protocols: Vec<Protocol> = protocols.collect::<Result<_, _>>()?;
        let plans = plans(&protocols, &scope)
            .map_err(|error| CampaignError::Plan { target: target.name(), error })?;
        let kept = |plan: Vec<Phase>| match reads_only {
            true => reading(plan),
            false => plan,
        };
        let plans: Vec<Vec<Phase>> = plans.into_iter().map(kept).collect();
        let erase = erase.map(|with| target.erase(with)).transpose()?;
        let plans = protocols.into_iter().zip(plans).collect();
        Ok(Session { target, plans, scope, erase, author: None })
    }

    /// The states of a virtual SSD, if a purge makes it new. It does not where flash wears out: such a
    /// drive goes through each method as one.
    pub(super) fn states(&self, keep: bool) -> Option<StateCache<'_>> {
        let DeviceUnderTest::Virtual(profile) = &self.target else { return None };
        let Model::Ssd(ssd) = &profile.model else { return None };
        let plans: Vec<Vec<Phase>> = self.plans.iter().map(|(_, plan)| plan.clone()).collect();
        let new = || {
            let mut drive = Drive::from_profile(profile);
            drive.begin_run(self.run());
            drive
        };
        ssd.wear.is_none().then(|| StateCache::new(&plans, keep, new))
    }

    /// The memory it takes.
    pub(super) fn need(&self) -> Need {
        Need {
            drive: self.target.memory_bytes(),
            kept: self.states(true).map_or(0, |states| states.most_kept()),
            methods: self.plans.len(),
        }
    }

    /// The target, ready for all of its plans.
    pub(super) fn open(&self) -> Result<Ready, DeviceError> {
        let mut ready = self.target.open(self.plans.iter().flat_map(|(_, plan)| plan))?;
        ready.drive.begin_run(self.run());
        // Plans begin by writing what they measure of a file, where they may.
        Ok(if matches!(self.target, DeviceUnderTest::Real(..)) { ready.laid_out() } else { ready })
    }

    /// Which run of a virtual drive it measures: with seed 1, the default, that of a new drive; with each other seed
    /// another, as a reader sees who measures again, and not the same of two drives. Whose variation has a seed by
    /// `--set` always has that course.
    fn run(&self) -> u64 {
        let is_set = match &self.target {
            DeviceUnderTest::Virtual(profile) | DeviceUnderTest::Used(profile, _) => {
                profile.set.iter().any(|set| set.starts_with("variation.seed="))
            }
            _ => false,
        };
        match self.scope.seed {
            1 => 0,
            _ if is_set => 0,
            seed => seed_of(seed, &self.target.name()).max(1),
        }
    }

    pub(super) fn reviewed(
        &self,
        method: usize,
        target: TargetInfo,
        host: Option<Host>,
    ) -> Reviewed {
        let (protocol, plan) = self.plans[method].clone();
        let (scope, erase, author) = (self.scope, self.erase.clone(), self.author.clone());
        Reviewed { protocol, plan, scope, target, host, author, health: None, erase }
    }
}
