//! Fits a family's free parameters to the figures that it may be fitted to.
//!
//! The free parameters are the values of its file that stand as `fitted`; a value that drives share
//! is one parameter. What is made small is the mean of |ln(simulated / published)| over the
//! absolute figures of the fitting part, a measured one counting twice a data sheet's. The search
//! takes one parameter after the other, a factor up or down as long as that helps, first in large
//! steps, then in small ones: the same figures and the same file always give the same values.

use fourcorners_catalogue::Standing;

use super::drives::Drives;
use super::figure::Figure;
use super::names::Names;
use super::question::{Bound, Published, Question, ask};
use super::runs::{Test, Watch, run_all};
use super::split::may_be_fitted;
use crate::statistic::Statistic;

/// Factors by which a parameter is moved, one after the other.
const STEPS: [f64; 3] = [1.2, 1.05, 1.01];
/// Most moves of a parameter in one direction at one step.
const MOST_MOVES: usize = 8;
/// How much more a measured figure counts than a data sheet's.
const MEASURED_WEIGHT: f64 = 2.0;

/// A parameter that was fitted.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// Section and key.
    pub key: String,
    /// The drives that share it.
    pub drives: Vec<String>,
    /// Its value in the file.
    pub before: f64,
    /// Its best value.
    pub after: f64,
}

/// What came of fitting a family.
#[derive(Clone, PartialEq, Debug)]
pub struct Fit {
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// The figures it was fitted to, with their errors before and after.
    pub figures: Vec<(String, f64, f64)>,
}

/// Fits the drives of the file `family`, on `workers` threads. `None` when it was stopped.
///
/// # Errors
/// When there is nothing to fit, or nothing to fit it to.
pub fn fit(
    family: &str,
    figures: &[Figure],
    drives: &Drives,
    (workers, watch): (usize, &Watch<'_>),
) -> Result<Option<Fit>, String> {
    let names = drives.names();
    if !names.has_family(family) {
        return Err(format!(
            "the catalogue has no file {family}; of a profile of your own give its folder by --profiles, and its file's name without .toml"
        ));
    }
    let targets = targets(family, figures, names);
    if targets.is_empty() {
        return Err(format!("no figure that {family} may be fitted to can be run"));
    }
    let parameters = parameters(&targets, names);
    if parameters.is_empty() {
        return Err(format!("no value of {family} stands as fitted"));
    }
    let mut search = Search { targets, parameters, names, known: Vec::new(), workers, watch };
    Ok(search.run())
}

/// A figure to come near to.
struct Target {
    id: String,
    test: Test,
    statistic: Statistic,
    published: Published,
    weight: f64,
}

fn targets(family: &str, figures: &[Figure], names: &Names) -> Vec<Target> {
    let target = |figure: &Figure| {
        let asked = ask(figure, names).ok().filter(|asked| asked.family == family)?;
        let Question::Value { test, statistic, published } = asked.question else { return None };
        let weight = if figure.kind == "measured" { MEASURED_WEIGHT } else { 1.0 };
        let id = figure.id.clone();
        (published.bound == Bound::None).then_some(Target {
            id,
            test,
            statistic,
            published,
            weight,
        })
    };
    figures.iter().filter(|figure| may_be_fitted(figure)).filter_map(target).collect()
}

/// The values that stand as fitted in the drives of the targets.
fn parameters(targets: &[Target], names: &Names) -> Vec<Parameter> {
    let mut parameters: Vec<Parameter> = Vec::new();
    let mut drives: Vec<&String> = targets.iter().map(|target| &target.test.drive).collect();
    drives.sort_unstable();
    drives.dedup();
    for drive in drives {
        let Ok(profile) = names.profile(drive, None, &[]) else { continue };
        for value in profile.values.iter().filter(|value| value.standing == Standing::Fitted) {
            let Some(before) = value.value.as_float() else { continue };
            let shared = parameters.iter_mut().find(|p| p.key == value.key && p.before == before);
            match shared {
                Some(parameter) => parameter.drives.push(drive.clone()),
                None => parameters.push(Parameter {
                    key: value.key.clone(),
                    drives: vec![drive.clone()],
                    before,
                    after: before,
                }),
            }
        }
    }
    parameters
}

struct Search<'a> {
    targets: Vec<Target>,
    parameters: Vec<Parameter>,
    names: &'a Names,
    /// What each test gave that was run.
    known: Vec<(Test, Vec<Option<f64>>)>,
    workers: usize,
    watch: &'a Watch<'a>,
}

impl Search<'_> {
    fn run(&mut self) -> Option<Fit> {
        let before = self.errors()?;
        let mut best = self.distance(&before);
        for step in STEPS {
            for index in 0..self.parameters.len() {
                for factor in [step, 1.0 / step] {
                    let mut moved = false;
                    for _ in 0..MOST_MOVES {
                        let old = self.parameters[index].after;
                        self.parameters[index].after = (old * factor * 1e3).round() / 1e3;
                        // A value that makes no drive is no better.
                        let distance = match self.makes_drives() {
                            true => {
                                let errors = self.errors()?;
                                self.distance(&errors)
                            }
                            false => f64::INFINITY,
                        };
                        if distance >= best - 1e-6 {
                            self.parameters[index].after = old;
                            break;
                        }
                        best = distance;
                        moved = true;
                    }
                    if moved {
                        break;
                    }
                }
            }
        }
        let after = self.errors()?;
        let ids = self.targets.iter().map(|target| target.id.clone());
        let figures = ids.zip(before).zip(after).map(|((id, before), after)| (id, before, after));
        Some(Fit { figures: figures.collect(), parameters: self.parameters.clone() })
    }

    /// Whether all drives can be with the parameters as they are.
    fn makes_drives(&self) -> bool {
        self.targets.iter().all(|target| {
            let test = self.with_parameters(target);
            self.names.profile(&test.drive, None, &test.set).is_ok()
        })
    }

    /// The mean of the logarithms' distances, by weight.
    fn distance(&self, errors: &[f64]) -> f64 {
        let weighted = self.targets.iter().zip(errors);
        let sum: f64 = weighted.map(|(t, error)| t.weight * (1.0 + error).ln().abs()).sum();
        sum / self.targets.iter().map(|target| target.weight).sum::<f64>()
    }

    /// The error of every target with the parameters as they are; `None` when it was stopped.
    fn errors(&mut self) -> Option<Vec<f64>> {
        let tests: Vec<Test> =
            self.targets.iter().map(|target| self.with_parameters(target)).collect();
        let mut new: Vec<Test> = Vec::new();
        for test in &tests {
            if !new.contains(test) && !self.known.iter().any(|(known, _)| known == test) {
                new.push(test.clone());
            }
        }
        let measured = run_all(&new, self.names, self.workers, self.watch);
        for (test, measured) in new.into_iter().zip(measured) {
            let measured = measured?;
            let of_it = |target: &Target| target.statistic.take(&measured);
            self.known.push((test, self.targets.iter().map(of_it).collect()));
        }
        let error = |(place, test): (usize, &Test)| {
            let (_, values) = self.known.iter().find(|(known, _)| known == test)?;
            Some(self.targets[place].published.error(values[place]?))
        };
        tests.iter().enumerate().map(error).collect()
    }

    fn with_parameters(&self, target: &Target) -> Test {
        let mut test = target.test.clone();
        for parameter in &self.parameters {
            if parameter.after != parameter.before && parameter.drives.contains(&test.drive) {
                test.set.push(format!("{}={}", parameter.key, parameter.after));
            }
        }
        test
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The one value of the VelociRaptor that stands as fitted is the rate of its outermost track.
    fn slower() -> Vec<Figure> {
        let figure = r#"[{"id":"m263","drive":"WD VelociRaptor","capacity_gb":300,"metric":"MB/s",
            "value":100,"kind":"measured","confidence":"stated",
            "test":{"pattern":"sequential read","span_gb":8,"duration_s":5}}]"#;
        crate::validate::parse(figure).expect("a figure")
    }

    #[test]
    fn a_parameter_is_moved_until_its_figure_is_met() {
        let drives = Drives::of_catalogue();
        let fit = fit("wd-velociraptor", &slower(), &drives, (1, &|_| true));
        let fit = fit.expect("it can be fitted");
        let fit = fit.expect("nothing stopped it");
        let [outer] = fit.parameters.as_slice() else { panic!("{:?}", fit.parameters) };
        assert_eq!(outer.key, "media.outer_mb_per_s");
        assert!(outer.after < outer.before, "{outer:?}");
        let [(_, before, after)] = fit.figures.as_slice() else { panic!("{:?}", fit.figures) };
        assert!(*before > 0.15 && after.abs() < 0.01, "{before} {after}");
    }

    #[test]
    fn a_value_that_makes_no_drive_ends_no_fit() {
        let mut figures = slower();
        figures[0].value = 10.into();
        let fit = fit("wd-velociraptor", &figures, &Drives::of_catalogue(), (1, &|_| true));
        let fit = fit.expect("it can be fitted").expect("nothing stopped it");
        let [outer] = fit.parameters.as_slice() else { panic!("{:?}", fit.parameters) };
        assert!(outer.after < outer.before, "{outer:?}");
        // The control: one step further there is no such drive.
        let further = [format!("{}={}", outer.key, outer.after / STEPS[0])];
        assert!(fourcorners_catalogue::built_in(&outer.drives[0], &further).is_err(), "{outer:?}");
    }

    #[test]
    fn what_cannot_be_fitted_is_said() {
        let drives = Drives::of_catalogue();
        let refused = |family, figures: &[Figure]| {
            fit(family, figures, &drives, (1, &|_| true)).expect_err(family)
        };
        assert!(refused("acme", &slower()).contains("no file acme"));
        assert!(refused("intel-320", &slower()).contains("no figure that intel-320"));
        let mut kept_out = slower();
        kept_out[0].id = "m007".into();
        assert!(refused("wd-velociraptor", &kept_out).contains("no figure"));
        assert_eq!(fit("wd-velociraptor", &slower(), &drives, (1, &|_| false)), Ok(None));
    }
}
