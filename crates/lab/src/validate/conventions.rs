//! From a published test to one that can be run: what the publication leaves open is filled in, by
//! the same rules for all.
//!
//! | left open | taken |
//! |---|---|
//! | block | 4 KiB random, 128 KiB sequential; 4 KiB for a latency |
//! | depth, random | 32; 1 for a latency; on PCIe 32 from each of 4 threads, 16 on generation 4, as Samsung's data sheets have it, which also name the 32 of a thread |
//! | depth, sequential | 1 (METHODS' four corners); 32 on PCIe, where one command at a time is nobody's figure |
//! | span, random | 8 GB; all of a hard disk, whose figures it decides; AS SSD's file of 1 GB |
//! | span, sequential | all of the drive |
//! | duration | a pass over all of the drive where the span is `full`, else 20 s; for a longest latency 180 s, of a used drive as long as it was written |
//! | data | repeating, as the tools of the time write; AS SSD's is incompressible. HD Tach's is repeating also where the figure says incompressible, which is then what was written before |
//! | state | fresh; what is read was written before |
//! | a maker's sequential writes to a drive with an SLC buffer | no more than it holds |
//! | after the cache, or its exhaustion | what the SLC buffer holds was written before, and the test goes on behind it |
//! | write cache off | every write with FUA, which is what such a drive answers; jobs each begin at the span's start |
//! | used, not how | the review's used state: filled, then 20 minutes of 4 KiB random writes over all of it at depth 32 or once its size, whichever is first; after HD Tach the 20 minutes in full |
//! | what holds for all of an article | `articles.rs` |
//! | span and state of random writes that a data sheet promises of a drive without TRIM | all of it, in the used state: no host can ever empty it |
//! | drive's capacity | the model's usual one, named in the catalogue; of one that is compared with, that of the other if it is sold so |
//!
//! AnandTech's steady state is its consistency test: the mean from second 1400 to 2000.

mod past;
#[cfg(test)]
mod tests;

use fourcorners_catalogue::{self as catalogue, Model};
use fourcorners_drive::SECTOR_BYTES;
use fourcorners_drive::config::{LinkSection, PcieLinkSection};
use fourcorners_record::{Data, Job, Pattern, Until};
use past::{AFTER_CACHE, TORTURE_SECONDS, state};
use serde_json::Value;

use super::articles::{self, Rules};
use super::figure::{Figure, PublishedTest};
use super::names::Found;
use super::reading::{Host, Reading};
use super::runs::{State, Test};

const RANDOM_SPAN_BYTES: u64 = 8_000_000_000;
const AS_SSD_SPAN_BYTES: u64 = 1 << 30;
const SECONDS: u64 = 20;
const LATENCY_SECONDS: u64 = 180;
/// Longest run of a published test; what takes days says nothing that this does not.
const MOST_SECONDS: f64 = 21_600.0;
/// Of the consistency test.
const STEADY_SECONDS: u64 = 2000;
/// Seed of the measured job; that of what is done before is another (`runs.rs`).
const SEED: u64 = 2;
/// Commands that a thread of a data sheet's test keeps in a PCIe drive.
const THREAD_DEPTH: u32 = 32;
/// Most jobs of a published test.
const MOST_JOBS: u32 = 1024;
/// Largest block of a published test.
const MOST_BLOCK_BYTES: u64 = 1 << 26;

/// The test of a figure on the drive that was found for it.
///
/// # Errors
/// What the test needs that is not modelled, or that is not published.
pub(super) fn test(figure: &Figure, reading: &Reading, found: Found<'_>) -> Result<Test, String> {
    let article = articles::of(reading.article);
    let published = &as_in_article(&figure.test, article);
    let (pattern, read_percent) = pattern(&published.pattern)?;
    let random = pattern == Pattern::Random;
    let disk = matches!(found.profile.model, Model::Hdd(_));
    let as_ssd = published.tool.as_deref() == Some("AS SSD");
    let hd_tach = published.tool.as_deref() == Some("HD Tach");
    let latency = figure.metric.ends_with("latency_ms");
    let default_block = if random || latency { 4096 } else { 131_072 };
    let block_bytes = published.block_size.unwrap_or(default_block);
    if block_bytes == 0
        || !block_bytes.is_multiple_of(SECTOR_BYTES)
        || block_bytes > MOST_BLOCK_BYTES
    {
        return Err(format!("I/Os of {block_bytes} bytes cannot be run"));
    }
    let pcie = pcie(found);
    let worn = never_empty(figure, found);
    let left = 1.0 - reading.spare_percent.unwrap_or(0.0) / 100.0;
    let capacity = found.profile.capacity_bytes();
    let usable = (capacity as f64 * left) as u64;
    let span = match &published.span_gb {
        Value::Number(gb) => Some((gb.as_f64().unwrap_or(0.0) * 1e9) as u64),
        Value::String(word) if word == "full" => Some(usable),
        Value::Null if as_ssd => Some(AS_SSD_SPAN_BYTES),
        Value::Null if random && !disk && !worn => {
            article.random_span_bytes.or(Some(RANDOM_SPAN_BYTES))
        }
        Value::Null => Some(usable),
        _ => None,
    };
    let span = span.ok_or_else(|| format!("a span of {} is not clear", published.span_gb))?;
    // Gigabytes of a sheet are rounded.
    if span as f64 > capacity as f64 * 1.02 {
        return Err(format!(
            "a span of {} GB is more than the drive's {:.0}",
            published.span_gb,
            capacity as f64 / 1e9
        ));
    }
    let span_bytes = span.min(usable);
    let span_bytes = span_bytes - span_bytes % block_bytes.max(4096);
    if span_bytes < block_bytes {
        return Err(format!("a span of {} holds no I/O", published.span_gb));
    }
    let full = published.span_gb.as_str() == Some("full");
    let state = match worn {
        true => State::Used { seconds: TORTURE_SECONDS, once: true },
        false => state(published, reading.before, found, article, [usable, span_bytes])?,
    };
    let (span_start_bytes, span_bytes) = match state {
        // What is overwritten in the buffer would make room in it.
        State::BufferFull { bytes } => (bytes, usable - bytes - (usable - bytes) % block_bytes),
        _ => (0, span_bytes),
    };
    let held = slc_bytes(found).filter(|_| {
        let by_maker = figure.kind == "spec" && state == State::Fresh;
        by_maker && pattern == Pattern::Sequential && read_percent == 0
    });
    let until = match published.duration_s {
        Some(seconds) if (1.0..=MOST_SECONDS).contains(&seconds) => Until::Seconds(seconds as u64),
        Some(seconds) => return Err(format!("a run of {seconds} s is too long or none")),
        None if full && !random => Until::Bytes(span_bytes),
        None if state == State::Steady => Until::Seconds(STEADY_SECONDS),
        None if figure.metric == "max_latency_ms" => Until::Seconds(match state {
            State::Used { seconds, .. } => seconds,
            _ => LATENCY_SECONDS,
        }),
        None => held.map_or(Until::Seconds(SECONDS), |bytes| Until::SecondsOrBytes(SECONDS, bytes)),
    };
    let named_depth = reading.depth.or(article.random_depth.filter(|_| random && !latency));
    let depth = match (named_depth, pcie) {
        (None | Some(THREAD_DEPTH), Some(link)) if random && !latency => {
            THREAD_DEPTH * threads(figure, named_depth, link)
        }
        (Some(depth), _) => depth,
        (None, Some(_)) if !latency => 32,
        (None, _) if random && !latency => 32,
        (None, _) if random => article.latency_depth.unwrap_or(1),
        (None, _) => 1,
    };
    let data = match published.data.as_deref() {
        _ if hd_tach => Data::Repeating,
        Some("incompressible") => Data::Incompressible,
        Some("repeating") => Data::Repeating,
        None if as_ssd => Data::Incompressible,
        None => Data::Repeating,
        Some(other) => return Err(format!("\"{other}\" data is not modelled")),
    };
    // The profile's own host is that of single commands, which tell it.
    let computer = article.nvme_host.filter(|_| pcie.is_some() && random && depth > 1);
    let of_article =
        article.gbps.map(Host::Gbps).or_else(|| computer.map(|name| Host::Controller(name.into())));
    let (host, set) = attached(reading.host.as_ref().or(of_article.as_ref()), found)?;
    Ok(Test {
        drive: found.profile.name.clone(),
        host,
        set,
        state,
        job: Job {
            pattern,
            read_percent,
            block_bytes: block_bytes as u32,
            queue_depth: depth,
            span_start_bytes,
            span_bytes,
            data,
            until,
            seed: SEED,
            fua: published.sync,
            flush: false,
            jobs: jobs(published.jobs)?,
        },
        usable_bytes: usable - usable % 131_072,
    })
}

/// The test as its article has it where the figure says nothing of it.
fn as_in_article(published: &PublishedTest, article: Rules) -> PublishedTest {
    let mut test = published.clone();
    let says_nothing = test.state.is_none() && test.span_gb.is_null();
    if article.consistency && test.pattern == "random write" && says_nothing {
        test.state = Some("steady".into());
        test.span_gb = "full".into();
        test.data = Some("incompressible".into());
    }
    test
}

/// What the drive's SLC buffer holds, if it has one.
fn slc_bytes(found: Found<'_>) -> Option<u64> {
    match &found.profile.model {
        Model::Ssd(ssd) => ssd.slc_buffer.as_ref().map(|slc| slc.most_bytes(ssd)),
        Model::Hdd(_) => None,
    }
}

/// Pattern and share of reads.
fn pattern(words: &str) -> Result<(Pattern, u8), String> {
    Ok(match words {
        "random read" => (Pattern::Random, 100),
        "random write" => (Pattern::Random, 0),
        "sequential read" => (Pattern::Sequential, 100),
        // Both fall and recover together; the writes are what is worn out.
        "sequential write" | "sequential" | "sequential read/write" | AFTER_CACHE => {
            (Pattern::Sequential, 0)
        }
        // What a data sheet calls active or writing draws the most.
        "active" | "write" => (Pattern::Sequential, 0),
        other => return Err(format!("the test \"{other}\" is not modelled")),
    })
}

/// The link of a drive on PCIe.
fn pcie(found: Found<'_>) -> Option<&PcieLinkSection> {
    match &found.profile.model {
        Model::Ssd(ssd) => match &ssd.link {
            LinkSection::Pcie(link) => Some(link),
            LinkSection::Sata(_) => None,
        },
        Model::Hdd(_) => None,
    }
}

/// Threads of a data sheet's test, each with a queue of its own; a review that names a depth means
/// all that is in the drive.
fn threads(figure: &Figure, depth: Option<u32>, link: &PcieLinkSection) -> u32 {
    match link.generation {
        _ if depth.is_some() && figure.kind != "spec" => 1,
        ..=3 => 4,
        _ => 16,
    }
}

/// Whether these are random writes that a data sheet promises of a drive which no host can empty
/// again.
fn never_empty(figure: &Figure, found: Found<'_>) -> bool {
    let test = &figure.test;
    let open = test.span_gb.is_null() && test.state.is_none() && test.precondition.is_none();
    let Model::Ssd(ssd) = &found.profile.model else { return false };
    let trim = ssd.trim.supported;
    figure.kind == "spec" && test.pattern == "random write" && open && !trim
}

/// Jobs at a time.
fn jobs(published: Option<u32>) -> Result<u32, String> {
    let jobs = published.unwrap_or(1);
    let known = (1..=MOST_JOBS).contains(&jobs);
    known.then_some(jobs).ok_or_else(|| format!("{jobs} jobs at a time are too many or none"))
}

/// The host controller of the test, if it is one of the catalogue's, and the line rate, where it is not the
/// drive's own, as a change of its profile.
fn attached(
    host: Option<&Host>,
    found: Found<'_>,
) -> Result<(Option<&'static str>, Vec<String>), String> {
    let gbps = match host {
        None => return Ok((None, Vec::new())),
        Some(Host::Controller(name)) => {
            let known = catalogue::host_names().into_iter().find(|known| known == name);
            let known = known.ok_or_else(|| not_modelled(name))?;
            let ports = catalogue::host(known).map_err(|error| error.to_string())?.model.ports;
            if ports.is_some() && pcie(found).is_some() {
                return Err(NO_SATA.into());
            }
            return Ok((Some(known), Vec::new()));
        }
        Some(Host::Gbps(gbps)) => *gbps,
        Some(Host::Other(other)) => return Err(not_modelled(other)),
    };
    let link = match &found.profile.model {
        Model::Ssd(ssd) => match &ssd.link {
            LinkSection::Sata(link) => Some(link),
            LinkSection::Pcie(_) => None,
        },
        Model::Hdd(hdd) => Some(&hdd.link),
    };
    let own = link.ok_or(NO_SATA)?.gbps;
    Ok((None, (gbps < own).then(|| line_rate(gbps)).into_iter().collect()))
}

const NO_SATA: &str = "a drive with a PCIe link has no SATA interface";

fn not_modelled(host: &str) -> String {
    format!("the host controller is not modelled: {host}")
}

/// The change of a profile that is another line rate.
pub(super) fn line_rate(gbps: f64) -> String {
    format!("link.gbps={gbps}")
}
