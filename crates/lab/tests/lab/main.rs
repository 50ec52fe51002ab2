//! The lab from outside, as the command and a program that embeds it see it.

mod choose;
mod distributions;
mod findings;
mod grade;
mod one_number;
mod replayed;
mod shapes;
mod state;
mod turbowrite;
mod verdicts;
