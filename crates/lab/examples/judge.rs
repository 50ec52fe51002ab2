use fourcorners_lab::diagnose::{Detector, Noise};
use fourcorners_lab::grade::findings::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let drives = a[1].parse().unwrap();
    let detectors = match a.get(2).map(|s| s.as_str()) {
        None | Some("all") => Detector::ALL.to_vec(),
        Some(l) => l.split(',').map(|n| Detector::named(n).unwrap()).collect(),
    };
    let seed = a.get(3).map_or(1, |s| s.parse().unwrap());
    let t: Vec<_> = Noise::ALL
        .into_iter()
        .map(|noise| {
            grade_findings(
                &Graded { detectors: detectors.clone(), drives, seed, noise, workers: 1 },
                &|_| true,
            )
        })
        .collect();
    print!("{}", markdown(&t));
}
