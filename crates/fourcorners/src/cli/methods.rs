//! `fourcorners methods`: which tests there are, how long each takes, and how much it writes.

use std::io::{Write, stdout};

use clap::Args as ClapArgs;
use comfy_table::Cell;
use fourcorners_drive::Geometry;
use fourcorners_lab::review::{
    ASSUMED_BYTES_PER_SECOND, Foreseen, Medium, Method, Past, Scope, plans,
};
use serde_json::json;

use super::dry_run::{duration, gigabytes};
use super::outcome::{End, Failure};
use super::size::parse_size;
use super::tasks::{empty, right};

/// No drive is larger: 2^50 bytes.
const MOST_BYTES: u64 = 1 << 50;
/// No drive that is reviewed is smaller.
const LEAST_BYTES: u64 = 1 << 20;

/// List the methods of `review`: what each measures, how long it takes and how much it writes
///
/// Times and amounts are those of a real drive by itself; a state in which several methods begin is made once, so all
/// together take less. `review TARGET --methods LIST --dry-run` says it of a target, phase by phase.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  fourcorners methods
  fourcorners methods --size 2T
  fourcorners review crucial-m4-256gb --methods trim,consistency --dry-run")]
pub(super) struct MethodsArgs {
    /// Capacity of the drive, for example 500G (10^9 bytes)
    #[arg(long, value_name = "SIZE", default_value = "256G", allow_hyphen_values = true, value_parser = super::args::value)]
    size: String,

    /// Only what `review --quick` would do of each
    #[arg(long)]
    quick: bool,

    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// A method on a drive.
struct Cost {
    method: Method,
    measures: &'static str,
    seconds: f64,
    written: u64,
    by_default: bool,
}

pub(super) fn run(args: &MethodsArgs) -> Result<End, Failure> {
    let bytes = parse_size(&args.size).map_err(Failure::Usage)?;
    if !(LEAST_BYTES..=MOST_BYTES).contains(&bytes) {
        return Err(Failure::Usage(format!("--size {}: give 1MiB to 1024TiB", args.size)));
    }
    let by_default = Method::default_set();
    let of = |method: Method| cost(method, bytes, args.quick, by_default.contains(&method));
    let costs: Result<Vec<Cost>, String> = Method::ALL.into_iter().map(of).collect();
    let costs = costs.map_err(Failure::Usage)?;
    let text = if args.json { document(&costs, bytes) } else { table(&costs, bytes) };
    writeln!(stdout().lock(), "{text}")?;
    Ok(End::Done)
}

fn cost(method: Method, bytes: u64, quick: bool, by_default: bool) -> Result<Cost, String> {
    let geometry = Geometry { sectors: bytes / 512, logical_block_bytes: 512, queue_depth: 32 };
    let scope = Scope { quick, ..Scope::whole_of(geometry, Medium::Ssd) };
    let plan = plans(&[method.into()], &scope).map_err(|error| error.to_string())?;
    let mut past = Past::default();
    let phases: Vec<Foreseen> = plan.iter().flat_map(|plan| past.foresee(plan)).collect();
    Ok(Cost {
        method,
        measures: method.measures(quick),
        seconds: phases.iter().map(Foreseen::estimated_seconds).sum(),
        written: phases.iter().map(|phase| phase.estimated_writes().bytes).sum(),
        by_default,
    })
}

fn document(costs: &[Cost], bytes: u64) -> String {
    let told = costs.iter().map(|cost| {
        json!({
            "name": cost.method.name(), "measures": cost.measures, "seconds": cost.seconds,
            "written_bytes": cost.written, "by_default": cost.by_default,
        })
    });
    let methods: Vec<_> = told.collect();
    json!({ "schema": "fourcorners.methods/1", "capacity_bytes": bytes, "methods": methods })
        .to_string()
}

fn table(costs: &[Cost], bytes: u64) -> String {
    let mut table = empty(["method", "takes", "writes", "measures"]);
    for cost in costs {
        let star = if cost.by_default { "" } else { " *" };
        table.add_row([
            Cell::new(format!("{}{star}", cost.method.name())),
            right(&format!("~{}", duration(cost.seconds))),
            right(&format!("~{}", gigabytes(cost.written))),
            Cell::new(cost.measures),
        ]);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    let printed: Vec<String> = table.lines().map(|line| line.trim_end().into()).collect();
    format!(
        "{}\n\n* Only when it is named: fourcorners review TARGET --methods NAME,..\nFor a drive of {} at {:.0} MB/s, \
         each by itself; seconds on a virtual drive.",
        printed.join("\n"),
        gigabytes(bytes),
        ASSUMED_BYTES_PER_SECOND / 1e6
    )
}
