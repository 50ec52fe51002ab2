//! Detectors one after the other, from the first or from where an earlier run of them ended.
//!
//! Between two detectors nothing is in flight, so that all there is to go on from is the drive, what the finished ones
//! measured, and where the random numbers of the noise are. Each detector has a seed of its own.

use fourcorners_drive::Target;
use fourcorners_record::diagnosis::{Cost, Evidence, Finding};
use serde::{Deserialize, Serialize};

use super::judge::excludes_flash;
use super::machine::MachineMemory;
use super::noisy::{Noise, Noisy, first_random};
use super::probe::{Probe, Stopped};
use super::region::{self, Region};
use super::{Detector, Options, kind};
use crate::any_target::AnyTarget;
use crate::drive::{Drive, OnTarget};

/// A detector that came to its end, and what the next one needs of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Finished {
    /// What it measured.
    pub evidence: Evidence,
    /// Where the random numbers of the noise are behind it.
    pub noise: u64,
}

impl Finished {
    /// Which it is; none if it is of no detector that is known.
    pub fn detector(&self) -> Option<Detector> {
        Detector::named(&self.evidence.detector)
    }
}

/// Runs the detectors that are not finished.
pub(super) fn all(
    drive: &mut Drive,
    options: &Options,
    finished: Vec<Finished>,
    watch: &mut dyn FnMut(&str) -> bool,
    keep: &mut dyn FnMut(&Drive, &Finished),
) -> Vec<Evidence> {
    let mut run = Run::new(options, finished);
    if matches!(drive, Drive::Real(_)) {
        let lacks = |error| Stopped::Lacks(format!("memory to compare it with: {error}"));
        run.memory = Some(MachineMemory::new().map_err(lacks));
    }
    drive.on(Step { run: &mut run, detector: None, watch });
    for detector in run.missing() {
        let ended = drive.on(Step { run: &mut run, detector: Some(detector), watch });
        if ended && let Some(evidence) = run.evidence.last() {
            keep(drive, &Finished { evidence: evidence.clone(), noise: run.noise });
        }
    }
    run.evidence
}

/// How far it is.
struct Run<'a> {
    options: &'a Options,
    /// What was measured, by detector.
    evidence: Vec<Evidence>,
    /// Where the random numbers of the noise are.
    noise: u64,
    /// What is read and written once and by all; none of a target that is too small.
    region: Option<Region>,
    has_no_flash: bool,
    /// Memory of the machine that reads the drive, or why there is none; of a model no machine does.
    memory: Option<Result<MachineMemory, Stopped>>,
    /// Why nothing is measured any more.
    stopped: Option<Stopped>,
}

impl<'a> Run<'a> {
    fn new(options: &'a Options, finished: Vec<Finished>) -> Run<'a> {
        let noise = finished.last().map_or(first_random(options.seed), |last| last.noise);
        let evidence: Vec<Evidence> = finished.into_iter().map(|it| it.evidence).collect();
        let has_no_flash = evidence.iter().any(says_that_there_is_no_flash);
        Run { options, evidence, noise, region: None, has_no_flash, memory: None, stopped: None }
    }

    /// The detectors that are asked for and not finished, in their order.
    fn missing(&self) -> Vec<Detector> {
        let is_finished = |it: &Detector| self.evidence.iter().any(|by| by.detector == it.name());
        let asked = Detector::ALL.into_iter().filter(|it| self.options.detectors.contains(it));
        asked.filter(|it| !is_finished(it)).collect()
    }

    /// Writes the region, unless an earlier run of them has.
    fn begin<T: Target>(&mut self, target: &mut T, watch: &mut dyn FnMut(&str) -> bool) {
        self.region = Region::of(target.geometry());
        self.stopped = match self.region {
            None => Some(Stopped::Lacks(fourcorners_record::diagnosis::TOO_SMALL.into())),
            Some(_) if !self.evidence.is_empty() => None,
            Some(region) => {
                let mut go_on = || watch("write a region in order");
                let mut probe = Probe::new(target, self.options.seed, &mut go_on);
                region::write(&mut probe, region).err()
            }
        };
    }

    /// Runs one. Whether it came to an end: a target that fails, or somebody who stops it, ends all.
    fn one<T: Target>(
        &mut self,
        target: &mut T,
        detector: Detector,
        watch: &mut dyn FnMut(&str) -> bool,
    ) -> bool {
        let mut go_on = || watch(detector.name());
        let mut probe = Probe::new(target, self.options.seed ^ detector as u64, &mut go_on);
        let lacks = match self.memory.as_mut().filter(|_| detector == Detector::Kind) {
            Some(Ok(memory)) => {
                probe.beside(memory);
                None
            }
            Some(Err(why)) => Some(why.clone()),
            None => None,
        };
        let measured = match (self.stopped.as_ref().or(lacks.as_ref()), self.region) {
            (Some(why), _) => Err(why.clone()),
            // What it is not is not looked for: thousands of reads of a disk are minutes.
            (None, _) if self.has_no_flash => Ok(Vec::new()),
            (None, Some(region)) => detector.measure(&mut probe, region),
            (None, None) => Ok(Vec::new()),
        };
        let cost = if self.region.is_some() { probe.cost() } else { Cost::default() };
        let stopped = measured.as_ref().err().map(ToString::to_string);
        // What one detector lacks another may have.
        let ends_all = measured.as_ref().err().filter(|why| !matches!(why, Stopped::Lacks(_)));
        let ended = ends_all.is_none();
        if let Some(why) = ends_all {
            self.stopped = Some(why.clone());
        }
        let series = measured.unwrap_or_default();
        self.evidence.push(Evidence { detector: detector.name().into(), series, cost, stopped });
        self.has_no_flash |= self.evidence.last().is_some_and(says_that_there_is_no_flash);
        ended
    }
}

fn says_that_there_is_no_flash(evidence: &Evidence) -> bool {
    let is_it = evidence.detector == Detector::Kind.name() && evidence.stopped.is_none();
    let no_flash = |finding: &Finding| excludes_flash(finding).is_some();
    is_it && kind::estimate(&evidence.series).iter().any(no_flash)
}

/// The region if no detector is named, or one detector, on whatever target there is.
struct Step<'a, 'o> {
    run: &'a mut Run<'o>,
    detector: Option<Detector>,
    watch: &'a mut dyn FnMut(&str) -> bool,
}

impl Step<'_, '_> {
    fn take<T: Target>(&mut self, target: &mut T) -> bool {
        match self.detector {
            Some(detector) => self.run.one(target, detector, self.watch),
            None => {
                self.run.begin(target, self.watch);
                self.run.stopped.is_none()
            }
        }
    }
}

impl OnTarget for Step<'_, '_> {
    /// Whether it came to an end.
    type Output = bool;

    fn on<const WALL: bool>(mut self, mut target: AnyTarget<'_, WALL>) -> bool {
        match self.run.options.noise {
            Noise::None => self.take(&mut target),
            noise => {
                let mut noisy = Noisy::going_on(&mut target, noise, self.run.noise);
                let ended = self.take(&mut AnyTarget::<WALL>::of(&mut noisy));
                self.run.noise = noisy.random();
                ended
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use fourcorners_drive::{Nanos, Null};

    use super::super::{Standing, judge};
    use super::*;

    fn measured<T: Target>(target: &mut T, options: &Options) -> Vec<Evidence> {
        let mut run = Run::new(options, Vec::new());
        run.begin(target, &mut |_| true);
        for detector in run.missing() {
            run.one(target, detector, &mut |_| true);
        }
        run.evidence
    }

    fn of_null(us: f64, seed: u64, noise: Noise) -> Vec<Finding> {
        let target = &mut Null::new(1 << 22, Nanos::from_micros(us));
        let mut noisy = Noisy::new(target, noise, seed);
        let options = Options { detectors: Detector::ALL.to_vec(), seed, noise };
        judge(&measured(&mut noisy, &options))
    }

    fn determined(findings: &[Finding]) -> Vec<(String, Option<String>)> {
        let those = findings.iter().filter(|it| it.standing == Standing::Determined);
        those.map(|it| (it.key.clone(), it.as_class().map(String::from))).collect()
    }

    #[test]
    fn of_what_answers_always_alike_nothing_is_determined_but_that_memory_is_memory() {
        let memory = of_null(3.0, 1, Noise::None);
        assert_eq!(determined(&memory), [("kind".into(), Some("memory".into()))]);
        assert!(memory[1..].iter().all(|it| it.standing == Standing::Undetermined));
        for us in [0.0, 10.0, 100.0, 5_000.0] {
            let kinds: Vec<_> = determined(&of_null(us, 1, Noise::None))
                .into_iter()
                .filter(|(key, _)| key != "kind")
                .collect();
            assert!(kinds.is_empty(), "{us} us: {kinds:?}");
        }
        // What takes a tenth of a millisecond at any size moves no data: no drive does that.
        assert_eq!(determined(&of_null(100.0, 1, Noise::None)), []);
    }

    #[test]
    fn of_what_answers_alike_behind_a_busy_host_nothing_is_determined_in_twenty_runs() {
        for seed in 1..=20 {
            let us = [17.0, 30.0, 100.0][seed as usize % 3];
            assert_eq!(determined(&of_null(us, seed, Noise::Host)), [], "{us} us, seed {seed}");
        }
    }

    #[test]
    fn of_a_target_that_is_too_small_nothing_is_written() {
        let mut target = Null::new(1 << 20, Nanos::from_micros(3.0));
        let found = measured(&mut target, &Options::default());
        assert!(found.iter().all(|it| it.cost.gb == 0.0 && it.stopped.is_some()), "{found:?}");
        let findings = judge(&found);
        assert!(findings.iter().all(|it| it.standing == Standing::Undetermined), "{findings:?}");
    }
}
