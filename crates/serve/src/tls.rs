//! TLS for addresses that other machines can reach: the server's certificate, and the certificates that clients must have.
//!
//! The files have the names that nbdkit and QEMU use. Who connects is asked before anything of the drive is told; a
//! client's certificate has to be signed by the authority in `ca-cert.pem`.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

/// The authority that signs the certificates of clients.
const CA: &str = "ca-cert.pem";
/// Certificates that it has taken back; need not be there.
const REVOKED: &str = "ca-crl.pem";
const CERTIFICATE: &str = "server-cert.pem";
const KEY: &str = "server-key.pem";

/// What a server proves itself with, and whom it lets in.
#[derive(Clone)]
pub struct Tls(pub(crate) Arc<ServerConfig>);

impl fmt::Debug for Tls {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

/// Why a folder is of no use for TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file that is not there, or cannot be read.
    #[error(
        "{path}: {error}; --tls names a folder with {CA}, {CERTIFICATE} and {KEY}, as nbdkit and QEMU have them"
    )]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A file without what it is to have.
    #[error("{path}: {why}: give {what} as PEM")]
    Pem {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
        /// What it is to have.
        what: &'static str,
    },
    /// What is in a file is not taken.
    #[error("{path}: {why}")]
    Refused {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

impl Tls {
    /// Reads `ca-cert.pem`, `server-cert.pem` and `server-key.pem` of a folder, and `ca-crl.pem` if it is there.
    ///
    /// # Errors
    /// When one of them is missing, is no PEM, or is of no use: a key of another certificate among it.
    pub fn open(folder: &Path) -> Result<Tls, TlsError> {
        let refused = |name: &str, error: &dyn fmt::Display| TlsError::Refused {
            path: folder.join(name),
            why: error.to_string(),
        };
        let mut roots = RootCertStore::empty();
        for certificate in several::<CertificateDer<'_>>(folder, CA, "certificates")? {
            roots.add(certificate).map_err(|error| refused(CA, &error))?;
        }
        let provider = Arc::new(ring::default_provider());
        let mut clients =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
        if folder.join(REVOKED).symlink_metadata().is_ok() {
            let what = "certificate revocation lists";
            let lists = several::<CertificateRevocationListDer<'_>>(folder, REVOKED, what)?;
            // As elsewhere, an authority that has no list has taken nothing back.
            clients = clients.with_crls(lists).allow_unknown_revocation_status();
        }
        let clients = clients.build().map_err(|error| refused(CA, &error))?;
        let certificates = several(folder, CERTIFICATE, "certificates")?;
        let key = PrivateKeyDer::from_pem_slice(&read(folder, KEY)?)
            .map_err(|error| not_pem(folder, KEY, &error, "a private key"))?;
        let versions =
            ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = versions
            .map_err(|error| refused(CERTIFICATE, &error))?
            .with_client_cert_verifier(clients)
            .with_single_cert(certificates, key)
            .map_err(|error| refused(KEY, &error))?;
        Ok(Tls(Arc::new(config)))
    }
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>, TlsError> {
    let path = folder.join(name);
    std::fs::read(&path).map_err(|error| TlsError::File { path, error })
}

fn not_pem(folder: &Path, name: &str, error: &pem::Error, what: &'static str) -> TlsError {
    let why = match error {
        pem::Error::NoItemsFound => match what.strip_prefix("a ") {
            Some(one) => format!("there is no {one} in it"),
            None => format!("there are no {what} in it"),
        },
        other => other.to_string(),
    };
    TlsError::Pem { path: folder.join(name), why, what }
}

/// All of a kind that a file has, one at least.
fn several<T: PemObject>(
    folder: &Path,
    name: &str,
    what: &'static str,
) -> Result<Vec<T>, TlsError> {
    let text = read(folder, name)?;
    let all: Result<Vec<T>, pem::Error> = T::pem_slice_iter(&text).collect();
    let all =
        all.and_then(|all| if all.is_empty() { Err(pem::Error::NoItemsFound) } else { Ok(all) });
    all.map_err(|error| not_pem(folder, name, &error, what))
}
