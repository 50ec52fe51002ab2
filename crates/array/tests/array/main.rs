//! Arrays and caches from outside: what holds of them whatever their drives.

mod cache;
mod commands;
mod common;
mod laws;
mod worst;
