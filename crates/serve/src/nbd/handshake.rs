//! The fixed newstyle handshake: a client's options, each answered by itself.

use super::reply::Dialect;
use super::wire::{self, Front, answer, can, info, option};
use super::{Closing, Export, MOST_PAYLOAD};

/// What the options have agreed on so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Agreed {
    pub(super) dialect: Dialect,
    /// The client asked for `base:allocation`.
    pub(super) allocation: bool,
    /// No zeros behind the answer to EXPORT_NAME.
    pub(super) no_zeroes: bool,
    pub(super) tls: Tls,
}

/// What the session has to do with TLS.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Tls {
    /// There is none here.
    #[default]
    Unsupported,
    /// Nothing is told without it (FORCEDTLS in the protocol's words).
    Required,
    /// It is on.
    On,
}

/// What comes after an option.
pub(super) enum Next {
    /// Another.
    Option,
    /// TLS, then another.
    StartTls,
    /// Requests.
    Transmission,
    Close(Closing),
}

/// What a server says first.
pub(super) fn greeting(out: &mut Vec<u8>) {
    out.extend_from_slice(&wire::NBD_MAGIC.to_be_bytes());
    out.extend_from_slice(&wire::OPTION_MAGIC.to_be_bytes());
    out.extend_from_slice(&((wire::FIXED_NEWSTYLE | wire::NO_ZEROES) as u16).to_be_bytes());
}

impl Agreed {
    /// The client's flags.
    ///
    /// # Errors
    /// When there are some that were not offered.
    pub(super) fn client_flags(&mut self, flags: u32) -> Result<(), Closing> {
        if flags & !(wire::FIXED_NEWSTYLE | wire::NO_ZEROES) != 0 {
            return Err(Closing::ClientFlags(flags));
        }
        self.no_zeroes = flags & wire::NO_ZEROES != 0;
        Ok(())
    }

    /// Answers an option.
    pub(super) fn option(
        &mut self,
        export: &Export,
        kind: u32,
        data: &[u8],
        out: &mut Vec<u8>,
    ) -> Next {
        match kind {
            option::ABORT => {
                reply(kind, answer::ACK, &[], out);
                return Next::Close(Closing::Disconnected);
            }
            option::STARTTLS => return self.start_tls(data, out),
            option::EXPORT_NAME if self.tls == Tls::Required => {
                return Next::Close(Closing::TlsRequired);
            }
            _ if self.tls == Tls::Required => {
                let why = "this server asks for TLS and a client certificate";
                reply(kind, answer::TLS_REQD, why.as_bytes(), out);
            }
            option::EXPORT_NAME => return self.export_name(export, data, out),
            option::LIST if !data.is_empty() => reply(kind, answer::INVALID, &[], out),
            option::LIST => {
                let mut server = (export.name.len() as u32).to_be_bytes().to_vec();
                server.extend_from_slice(export.name.as_bytes());
                server.extend_from_slice(export.description.as_bytes());
                reply(kind, answer::SERVER, &server, out);
                reply(kind, answer::ACK, &[], out);
            }
            option::INFO | option::GO => {
                if self.info(export, kind, data, out) && kind == option::GO {
                    return Next::Transmission;
                }
            }
            option::STRUCTURED_REPLY | option::EXTENDED_HEADERS if !data.is_empty() => {
                reply(kind, answer::INVALID, &[], out);
            }
            option::STRUCTURED_REPLY if self.dialect == Dialect::Extended => {
                reply(kind, answer::EXT_HEADER_REQD, &[], out);
            }
            option::STRUCTURED_REPLY => {
                self.dialect = Dialect::Structured;
                reply(kind, answer::ACK, &[], out);
            }
            option::EXTENDED_HEADERS => {
                self.dialect = Dialect::Extended;
                reply(kind, answer::ACK, &[], out);
            }
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => {
                self.contexts(export, kind, data, out);
            }
            // Whatever is not known.
            _ => reply(kind, answer::UNSUP, &[], out),
        }
        Next::Option
    }

    fn start_tls(&mut self, data: &[u8], out: &mut Vec<u8>) -> Next {
        let answer = match self.tls {
            Tls::Unsupported => answer::UNSUP,
            Tls::Required if data.is_empty() => {
                reply(option::STARTTLS, answer::ACK, &[], out);
                self.tls = Tls::On;
                return Next::StartTls;
            }
            // With data, or a second time.
            Tls::Required | Tls::On => answer::INVALID,
        };
        reply(option::STARTTLS, answer, &[], out);
        Next::Option
    }

    fn export_name(&self, export: &Export, name: &[u8], out: &mut Vec<u8>) -> Next {
        // Its answer has no place for an error, nor for what extended headers need.
        if !is_named(export, name) || self.dialect == Dialect::Extended {
            return Next::Close(Closing::NoSuchExport);
        }
        out.extend_from_slice(&export.bytes.to_be_bytes());
        out.extend_from_slice(&self.transmission_flags(export).to_be_bytes());
        if !self.no_zeroes {
            out.extend_from_slice(&[0; 124]);
        }
        Next::Transmission
    }

    /// INFO or GO; whether the export is the one that was asked for.
    fn info(&self, export: &Export, kind: u32, data: &[u8], out: &mut Vec<u8>) -> bool {
        let Some(name) = info_request(data) else {
            reply(kind, answer::INVALID, &[], out);
            return false;
        };
        if !is_named(export, name) {
            let why = format!("there is one export here: \"{}\"", export.name);
            reply(kind, answer::UNKNOWN, why.as_bytes(), out);
            return false;
        }
        let mut tell = |what: u16, content: &[&[u8]]| {
            let mut data = what.to_be_bytes().to_vec();
            content.iter().for_each(|part| data.extend_from_slice(part));
            reply(kind, answer::INFO, &data, out);
        };
        let flags = self.transmission_flags(export);
        tell(info::EXPORT, &[&export.bytes.to_be_bytes(), &flags.to_be_bytes()]);
        tell(info::NAME, &[export.name.as_bytes()]);
        tell(info::DESCRIPTION, &[export.description.as_bytes()]);
        let preferred = export.block_bytes.max(4096);
        let sizes = [export.block_bytes, preferred, MOST_PAYLOAD].map(u32::to_be_bytes);
        tell(info::BLOCK_SIZE, &[&sizes[0], &sizes[1], &sizes[2]]);
        reply(kind, answer::ACK, &[], out);
        true
    }

    /// LIST or SET of metadata contexts.
    fn contexts(&mut self, export: &Export, kind: u32, data: &[u8], out: &mut Vec<u8>) {
        let sets = kind == option::SET_META_CONTEXT;
        if sets {
            // What was set before is void, also when this fails.
            self.allocation = false;
        }
        let queries = match context_queries(data) {
            Some((name, queries)) if self.dialect != Dialect::Simple => {
                if !is_named(export, name) {
                    return reply(kind, answer::UNKNOWN, &[], out);
                }
                queries
            }
            _ => return reply(kind, answer::INVALID, &[], out),
        };
        let wanted =
            |query: &&[u8]| *query == wire::ALLOCATION.as_bytes() || (!sets && *query == b"base:");
        if queries.iter().any(wanted) || (!sets && queries.is_empty()) {
            let mut context = wire::ALLOCATION_ID.to_be_bytes().to_vec();
            context.extend_from_slice(wire::ALLOCATION.as_bytes());
            reply(kind, answer::META_CONTEXT, &context, out);
            self.allocation |= sets;
        }
        reply(kind, answer::ACK, &[], out);
    }

    fn transmission_flags(&self, export: &Export) -> u16 {
        let mut flags = can::HAS_FLAGS | can::FLUSH | can::MULTI_CONN | can::CACHE;
        let mut add = |when: bool, more: u16| flags |= if when { more } else { 0 };
        add(export.read_only, can::READ_ONLY);
        add(!export.read_only, can::FUA | can::WRITE_ZEROES | can::FAST_ZERO);
        add(!export.read_only && export.trims, can::TRIM);
        add(export.rotational, can::ROTATIONAL);
        add(self.dialect != Dialect::Simple, can::DF);
        flags
    }
}

fn is_named(export: &Export, name: &[u8]) -> bool {
    name.is_empty() || name == export.name.as_bytes()
}

/// The name in the data of INFO and GO. What is asked for by number behind it is told in any case.
fn info_request(data: &[u8]) -> Option<&[u8]> {
    let mut front = Front(data);
    let name = front.text()?;
    let count = front.u16()?;
    front.bytes(2 * usize::from(count))?;
    front.0.is_empty().then_some(name)
}

/// Name and queries of LIST_META_CONTEXT and SET_META_CONTEXT.
fn context_queries(data: &[u8]) -> Option<(&[u8], Vec<&[u8]>)> {
    let mut front = Front(data);
    let name = front.text()?;
    let count = front.u32()?;
    // Each has its length in front, so that no more are looked for than there can be.
    let most = front.0.len() / 4;
    let count = usize::try_from(count).ok().filter(|&count| count <= most)?;
    let queries = (0..count).map(|_| front.text()).collect::<Option<Vec<_>>>()?;
    front.0.is_empty().then_some((name, queries))
}

fn reply(kind: u32, answer: u32, data: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&wire::OPTION_REPLY_MAGIC.to_be_bytes());
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&answer.to_be_bytes());
    out.extend_from_slice(&(data.len() as u32).to_be_bytes());
    out.extend_from_slice(data);
}
