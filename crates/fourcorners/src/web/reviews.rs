//! Reviews that were started from the page: what may be started, one at a time, and what they tell.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use fourcorners_catalogue as catalogue;
use fourcorners_lab::review::{MOST_SPARE_PERCENT, Method};
use serde::{Deserialize, Serialize};

use super::error::Refused;
use super::metrics::{self, Exposition, Numbered};
use super::running::{Running, Status};
use super::shared::Shared;

/// Most drives of one review.
const MOST_DRIVES: usize = 16;
/// Reviews that are remembered; their results are in the database.
const MOST_REMEMBERED: usize = 32;

/// What is to be reviewed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Names of the catalogue: nothing else can be started from here.
    pub(super) drives: Vec<String>,
    /// None for the default ones.
    #[serde(default)]
    pub(super) methods: Vec<String>,
    #[serde(default)]
    pub(super) quick: bool,
    /// Percent.
    #[serde(default)]
    pub(super) spare: f64,
    #[serde(default = "first_seed")]
    pub(super) seed: u64,
}

fn first_seed() -> u64 {
    1
}

impl Wanted {
    fn check(&self) -> Result<(), Refused> {
        if self.drives.is_empty() || self.drives.len() > MOST_DRIVES {
            return Err(Refused::bad(format!("drives: give 1 to {MOST_DRIVES}")));
        }
        let known = catalogue::names();
        for (place, drive) in self.drives.iter().enumerate() {
            if !known.contains(drive) {
                return Err(Refused::bad(format!(
                    "drives: there is no {drive:?} in the catalogue; only its virtual drives are \
                     started from the page, real ones with `fourcorners review`"
                )));
            }
            if self.drives[..place].contains(drive) {
                return Err(Refused::bad(format!("drives: {drive:?} is there twice")));
            }
        }
        for method in &self.methods {
            method.parse::<Method>().map_err(|why| Refused::bad(format!("methods: {why}")))?;
        }
        if !(0.0..=MOST_SPARE_PERCENT).contains(&self.spare) {
            let why = format!("spare: give a percentage from 0 to {MOST_SPARE_PERCENT}");
            return Err(Refused::bad(why));
        }
        Ok(())
    }

    /// The arguments of `fourcorners` that carry it out.
    pub(super) fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["review".to_string()];
        arguments.extend(self.drives.iter().cloned());
        if !self.methods.is_empty() {
            arguments.extend(["--methods".into(), self.methods.join(",")]);
        }
        if self.quick {
            arguments.push("--quick".into());
        }
        let (spare, seed) = (self.spare.to_string(), self.seed.to_string());
        // What is chosen on the page is all there is: nothing is from a config file.
        let rest = ["--spare", &spare, "--seed", &seed, "--json", "--progress", "json"];
        arguments.push("--no-config".into());
        arguments.extend(rest.map(String::from));
        arguments
    }
}

/// The reviews of this server, the latest last.
#[derive(Debug, Default)]
pub(super) struct Reviews(Mutex<Vec<Arc<Running>>>);

impl Reviews {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Running>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, number: &str) -> Result<Arc<Running>, Refused> {
        let is_meant = |review: &&Arc<Running>| number.parse() == Ok(review.number);
        self.lock().iter().find(is_meant).cloned().ok_or_else(|| {
            let why = format!("there is no review {number} of this server");
            Refused::new(StatusCode::NOT_FOUND, why)
        })
    }

    /// Stops what is under way and waits for it, so that what it measured is kept.
    pub(super) async fn stop_all(&self) {
        let reviews = self.lock().clone();
        for review in &reviews {
            review.stop();
        }
        for review in &reviews {
            review.ended().await;
        }
    }
}

#[derive(Serialize)]
struct Listed {
    read_only: bool,
    reviews: Vec<Status>,
}

pub(super) async fn all(State(shared): State<Arc<Shared>>) -> Response {
    let reviews = shared.reviews.lock();
    let listed = Listed {
        read_only: shared.options.read_only,
        reviews: reviews.iter().map(|review| review.status().without_series()).collect(),
    };
    Json(listed).into_response()
}

/// What a monitoring system is told of them.
pub(super) async fn metrics(State(shared): State<Arc<Shared>>) -> Exposition {
    let reviews: Vec<Status> = shared.reviews.lock().iter().map(|review| review.status()).collect();
    let numbered = reviews.iter().map(|review| {
        let (number, state) = (review.number, review.state);
        Numbered { number, state, course: &review.course }
    });
    metrics::reviews(&numbered.collect::<Vec<_>>())
}

pub(super) async fn start(
    State(shared): State<Arc<Shared>>,
    wanted: Result<Json<Wanted>, JsonRejection>,
) -> Result<Response, Refused> {
    let Json(wanted) = wanted.map_err(|error| {
        // What is too large says so; whatever else is wrong with it is a bad request.
        let too_large = error.status() == StatusCode::PAYLOAD_TOO_LARGE;
        let status = if too_large { error.status() } else { StatusCode::BAD_REQUEST };
        Refused::new(status, error.body_text())
    })?;
    wanted.check()?;
    let mut reviews = shared.reviews.lock();
    if let Some(busy) = reviews.iter().find(|review| review.status().is_running()) {
        let why = format!("review {} is under way: wait for it or stop it", busy.number);
        return Err(Refused::new(StatusCode::CONFLICT, why));
    }
    let number = reviews.last().map_or(1, |last| last.number + 1);
    let options = &shared.options;
    let review = Running::start(number, wanted, &options.program, &options.database)
        .map_err(|error| Refused::ours(format!("the review cannot be started: {error}")))?;
    reviews.push(Arc::clone(&review));
    if reviews.len() > MOST_REMEMBERED {
        reviews.remove(0);
    }
    Ok((StatusCode::CREATED, Json(review.status())).into_response())
}

pub(super) async fn one(
    State(shared): State<Arc<Shared>>,
    Path(number): Path<String>,
) -> Result<Response, Refused> {
    Ok(Json(shared.reviews.find(&number)?.status()).into_response())
}

pub(super) async fn stop(
    State(shared): State<Arc<Shared>>,
    Path(number): Path<String>,
) -> Result<Response, Refused> {
    let review = shared.reviews.find(&number)?;
    review.stop();
    Ok((StatusCode::ACCEPTED, Json(review.status().without_series())).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(json: &str) -> Result<Wanted, String> {
        let wanted: Wanted = serde_json::from_str(json).map_err(|error| error.to_string())?;
        wanted.check().map_err(|refused| refused.status().to_string())?;
        Ok(wanted)
    }

    #[test]
    fn only_drives_of_the_catalogue_are_started() {
        for refused in [
            r#"{"drives": []}"#,
            r#"{"drives": ["/dev/sda"]}"#,
            r#"{"drives": ["./mine.toml"]}"#,
            r#"{"drives": ["../../etc/passwd"]}"#,
            r#"{"drives": ["--destroy"]}"#,
            r#"{"drives": ["crucial-m4-256gb", "crucial-m4-256gb"]}"#,
            r#"{"drives": ["crucial-m4-256gb"], "methods": ["nosuch"]}"#,
            r#"{"drives": ["crucial-m4-256gb"], "methods": ["toms,--destroy"]}"#,
            r#"{"drives": ["crucial-m4-256gb"], "spare": 91}"#,
            r#"{"drives": ["crucial-m4-256gb"], "spare": -1}"#,
            r#"{"drives": ["crucial-m4-256gb"], "destroy": ["/dev/sda"]}"#,
        ] {
            assert!(wanted(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn what_is_wanted_becomes_arguments() {
        let asked = r#"{"drives": ["crucial-m4-256gb"], "methods": ["toms", "trim"],
                        "quick": true, "spare": 12.5, "seed": 7}"#;
        let arguments = wanted(asked).expect("it may be started").arguments().join(" ");
        let expected = "review crucial-m4-256gb --methods toms,trim --quick --no-config --spare 12.5 \
                        --seed 7 \
                        --json --progress json";
        assert_eq!(arguments, expected);
    }
}
