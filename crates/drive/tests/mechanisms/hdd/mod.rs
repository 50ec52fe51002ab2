//! The virtual hard disk against closed forms, published figures and laws, through its public
//! interface only.

mod behaviour;
mod closed_forms;
mod energy;
mod laws;
mod momentus;
mod refusals;
mod streams;
mod support;
