//! `fourcorners doctor`: what this machine and a target can and cannot measure.

use std::io::{Write, stdout};

use comfy_table::{ContentArrangement, LineStyle, Table, presets};
use fourcorners_linux::doctor::{Finding, Roots, Verdict, machine, target};
use serde_json::json;

use super::args::DoctorArgs;
use super::outcome::{End, Failure};
use super::terminal::columns;

/// Looks, and tells. What limits a measurement is no failure.
pub(super) fn run(args: &DoctorArgs) -> Result<End, Failure> {
    let roots = Roots::real();
    let on_target = args
        .path
        .as_deref()
        .map(|path| target(&roots, path))
        .transpose()
        .map_err(Failure::Usage)?;
    let on_machine = machine(&roots);
    let mut out = stdout().lock();
    if args.json {
        let document = json!({
            "schema": "fourcorners.doctor/1",
            "machine": on_machine,
            "target": on_target,
        });
        writeln!(out, "{document:#}")?;
        return Ok(End::Done);
    }
    let findings = on_machine.iter().chain(on_target.iter().flatten());
    writeln!(out, "{}", table(findings))?;
    Ok(End::Done)
}

fn table<'a>(findings: impl Iterator<Item = &'a Finding>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.style_mut().header_separator = LineStyle::none().fill('─').junction('─');
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns());
    table.set_header(["", "", "found", "what it means"]);
    for finding in findings {
        let sign = match finding.verdict {
            Verdict::Fine => "ok",
            Verdict::Limits => "!",
            Verdict::NotKnown => "?",
        };
        table.add_row([sign, finding.what, finding.found.as_str(), finding.means.as_str()]);
    }
    table
}
