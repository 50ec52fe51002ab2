//! `fourcorners trace`: what is in a trace, other formats, and replays.

mod args;
mod card;
mod convert;
mod reading;
mod record;
mod replay;
mod replay_all;

use std::io::{Write, stdout};

use fourcorners_trace as trace;

use super::interrupt::Interrupt;
use super::outcome::{End, Failure};
use super::terminal::{columns, say};

pub(super) use args::TraceArgs;
use args::{InfoArgs, TraceCommand};
use reading::{opened, options, why_empty};
pub(super) use replay_all::{candidates_named, try_recording};

pub(super) fn run(args: TraceArgs) -> Result<End, Failure> {
    match args.command {
        TraceCommand::Info(args) => info(&args),
        TraceCommand::Convert(args) => convert::run(&args),
        TraceCommand::Record(args) => record::run(&args),
        TraceCommand::Replay(args) => replay::run(&args),
    }
}

fn info(args: &InfoArgs) -> Result<End, Failure> {
    let options = options(&args.taken).map_err(Failure::Usage)?;
    let mut trace = opened(&args.trace, &args.taken, &options)?;
    let interrupt = Interrupt::listen()?;
    let Some(card) = trace::card(&mut trace, &mut || !interrupt.asked())? else {
        say("fourcorners: stopped; the trace was not read to its end");
        return Ok(End::Incomplete);
    };
    if card.ios == 0 {
        return Err(Failure::Usage(why_empty(&card.trace, &trace, &args.taken)));
    }
    let text = match args.json {
        true => card::json(&card)?,
        false => card::table(&card, usize::from(columns())),
    };
    writeln!(stdout().lock(), "{}", text.trim_end())?;
    Ok(End::Done)
}
