//! Served drives from outside: the protocol, its clients, what a turn answers.

mod clients;
mod common;
mod control;
mod protocol;
mod real;
mod tls;
mod turn;
