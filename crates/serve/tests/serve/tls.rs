//! Encrypted connections: who is let in, who is not, and that those who are notice nothing of the others.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crate::common::header;
use fourcorners_drive::{Nanos, Null};
use fourcorners_serve::contents::{Contents, Memory};
use fourcorners_serve::nbd::Export;
use fourcorners_serve::{
    Address, Listener, MOST_CONNECTIONS, Pace, Report, Server, Settings, Tls, Turn, TurnSettings,
};
use fourcorners_testing::skipped;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

const BYTES: u64 = 16 << 20;

/// Runs openssl in a folder.
fn openssl(dir: &Path, args: &str) {
    let output = Command::new("openssl").args(args.split(' ')).current_dir(dir).output();
    let output = output.expect("it was there");
    assert!(output.status.success(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
}

/// An authority, and certificates of it for a server and a client.
fn certificates(dir: &Path) -> Option<()> {
    if let Err(error) = Command::new("openssl").arg("version").output() {
        skipped("openssl", format!("openssl: {error}"));
        return None;
    }
    std::fs::create_dir(dir).expect("it is new");
    std::fs::write(
        dir.join("server.ext"),
        "subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\n",
    )
    .expect("it can be written");
    std::fs::write(dir.join("client.ext"), "basicConstraints=CA:FALSE\n").expect("written");
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(
        dir,
        &format!("req -x509 {key} -days 2 -subj /CN=authority -keyout ca-key.pem -out ca-cert.pem"),
    );
    for who in ["server", "client"] {
        openssl(dir, &format!("req {key} -subj /CN={who} -keyout {who}-key.pem -out {who}.csr"));
        openssl(
            dir,
            &format!(
                "x509 -req -in {who}.csr -CA ca-cert.pem -CAkey ca-key.pem -CAcreateserial -days 2 \
                 -extfile {who}.ext -out {who}-cert.pem"
            ),
        );
    }
    Some(())
}

struct Served {
    dir: tempfile::TempDir,
    port: u16,
    stop: Option<UnixStream>,
    server: Option<JoinHandle<Report>>,
}

impl Served {
    /// A drive behind TLS; `None` with a reason said where no certificates can be made.
    fn new() -> Option<Served> {
        let dir = tempfile::tempdir().expect("a temporary directory");
        certificates(&dir.path().join("pki"))?;
        certificates(&dir.path().join("others"))?;
        let tls = Tls::open(&dir.path().join("pki")).unwrap_or_else(|error| panic!("{error}"));
        let address = "tcp:127.0.0.1:0".parse().expect("an address");
        let listener = Listener::open(&address, Some(tls)).expect("a port is free");
        assert!(listener.uri().starts_with("nbds://127.0.0.1:"), "{}", listener.uri());
        let Address::Tcp(SocketAddr::V4(at)) = *listener.address() else {
            unreachable!("it is TCP")
        };
        let (stop, stopped) = UnixStream::pair().expect("a pair of sockets");
        let server = std::thread::spawn(move || {
            let export = Export {
                name: "null".into(),
                description: String::new(),
                bytes: BYTES,
                block_bytes: 512,
                read_only: false,
                trims: false,
                rotational: false,
            };
            let pace = Pace::Virtual { grace: Nanos(50_000) };
            let (door, until_last_disconnect) = (Nanos::ZERO, None);
            let settings = Settings { export, pace, door, until_last_disconnect, every: None };
            let null = Null::new(BYTES / 512, Nanos::ZERO);
            let contents = Contents::Memory(Memory::new(u64::MAX));
            let mut server =
                Server::new(Turn::new(null, contents, TurnSettings::default()), settings);
            server.listen(listener);
            server.stop_at(stopped.into());
            server.run(|_| {}).expect("it can be served").1
        });
        Some(Served { dir, port: at.port(), stop: Some(stop), server: Some(server) })
    }

    fn end(mut self) -> Report {
        drop(self.stop.take());
        self.server.take().expect("it runs").join().expect("it ends")
    }

    fn folder(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }

    /// An unencrypted connection that has been greeted.
    fn plain(&self) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        stream.read_exact(&mut [0; 18]).expect("it is greeted");
        stream.write_all(&3u32.to_be_bytes()).expect("it can be written");
        stream
    }

    /// A connection with TLS and a certificate of this folder, if any, up to its first request.
    fn connect(
        &self,
        certificate: Option<&str>,
    ) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
        let mut stream = self.plain();
        stream.write_all(b"IHAVEOPT\0\0\0\x05\0\0\0\0")?;
        stream.read_exact(&mut [0; 20])?;
        let mut roots = RootCertStore::empty();
        let pki = self.dir.path().join("pki");
        roots
            .add(CertificateDer::from_pem_file(pki.join("ca-cert.pem")).expect("PEM"))
            .expect("one");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("there are some")
            .with_root_certificates(roots);
        let config = match certificate {
            None => config.with_no_client_auth(),
            Some(folder) => {
                let folder = self.dir.path().join(folder);
                let chain = vec![
                    CertificateDer::from_pem_file(folder.join("client-cert.pem")).expect("PEM"),
                ];
                let key = PrivateKeyDer::from_pem_file(folder.join("client-key.pem")).expect("PEM");
                config.with_client_auth_cert(chain, key).expect("they fit")
            }
        };
        let name = ServerName::try_from("localhost").expect("a name");
        let connection = ClientConnection::new(Arc::new(config), name).expect("it is whole");
        let mut tls = StreamOwned::new(connection, stream);
        tls.write_all(b"IHAVEOPT\0\0\0\x01\0\0\0\0")?;
        tls.read_exact(&mut [0; 10])?;
        Ok(tls)
    }
}

/// Writes bytes that are nowhere alike and reads them back, more than any buffer takes.
fn goes_on(client: &mut (impl Read + Write), cookie: u64) {
    let data: Vec<u8> = (0..4 << 20u64).map(|n| (n * 31 + n / 251 + cookie) as u8).collect();
    client.write_all(&header(1, cookie, 0, data.len() as u32)).expect("it is served");
    client.write_all(&data).expect("it is served");
    client.read_exact(&mut [0; 16]).expect("the write is answered");
    client.write_all(&header(0, cookie, 0, data.len() as u32)).expect("it is served");
    let mut read = vec![0; 16 + data.len()];
    client.read_exact(&mut read).expect("the read is answered");
    assert!(read[16..] == data, "what comes back is what went there");
}

#[test]
fn only_certificates_of_the_authority_are_let_in_and_those_go_on() {
    let Some(served) = Served::new() else { return };
    let mut good = served.connect(Some("pki")).expect("it has a certificate");
    goes_on(&mut good, 1);
    // Without TLS: every option but one is answered with what is missing, and an old client is let go.
    let mut stream = served.plain();
    for option in [3u32, 6, 7, 8, 11, 99] {
        stream.write_all(b"IHAVEOPT").expect("it can be written");
        stream.write_all(&[option.to_be_bytes(), [0; 4]].concat()).expect("it can be written");
        let mut answer = [0; 20];
        stream.read_exact(&mut answer).expect("it is answered");
        assert_eq!(answer[12..16], (1u32 << 31 | 5).to_be_bytes(), "option {option}");
        let length = u32::from_be_bytes(answer[16..].try_into().expect("four bytes"));
        stream.read_exact(&mut vec![0; length as usize]).expect("it says why");
    }
    stream.write_all(b"IHAVEOPT\0\0\0\x01\0\0\0\0").expect("it can be written");
    assert_eq!(stream.read(&mut [0; 10]).expect("it is closed"), 0);
    goes_on(&mut good, 2);
    // Without a certificate, and with one of somebody else's authority.
    for certificate in [None, Some("others")] {
        let error = served.connect(certificate).map(|_| ()).expect_err("it is refused");
        assert!(error.to_string().contains("alert"), "{certificate:?}: {error}");
        goes_on(&mut good, 3);
    }
    // No TLS at all behind the request for it, in the same packet and later.
    let mut stream = served.plain();
    stream.write_all(b"IHAVEOPT\0\0\0\x05\0\0\0\0GET / HTTP/1.1\r\n").expect("written");
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert_eq!(rest.len(), 20, "the answer to STARTTLS and the end: {rest:?}");
    let mut stream = served.plain();
    stream.write_all(b"IHAVEOPT\0\0\0\x05\0\0\0\0").expect("written");
    stream.read_exact(&mut [0; 20]).expect("it is answered");
    stream.write_all(&[0xff; 5000]).expect("written");
    let _ = stream.read_to_end(&mut rest);
    goes_on(&mut good, 4);
    drop(good);
    let report = served.end();
    assert_eq!((report.connections.untrusted, report.connections.broken), (5, 0), "{report:?}");
    let ios: Vec<u64> = report.operations.iter().map(|operation| operation.ios).collect();
    assert_eq!(ios, [5, 5], "nobody else has read or written");
}

#[test]
fn strangers_who_say_nothing_keep_nobody_out() {
    let Some(served) = Served::new() else { return };
    let mut good = served.connect(Some("pki")).expect("it has a certificate");
    let strangers: Vec<TcpStream> = (0..2 * MOST_CONNECTIONS).map(|_| served.plain()).collect();
    goes_on(&mut good, 1);
    let mut another = served.connect(Some("pki")).expect("there is room for it");
    goes_on(&mut another, 2);
    goes_on(&mut good, 3);
    drop(strangers);
    let report = served.end();
    assert!(report.connections.untrusted >= MOST_CONNECTIONS as u64, "{report:?}");
    assert_eq!(report.connections.refused, 0);
}

#[test]
fn the_clients_of_others_are_let_in_with_their_certificate_and_not_without() {
    let Some(served) = Served::new() else { return };
    let run = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).current_dir(served.dir.path()).output();
        match output {
            Err(error) => {
                skipped(program, format!("{program}: {error}"));
                None
            }
            Ok(output) => {
                let text = [output.stdout, output.stderr].concat();
                Some((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
            }
        }
    };
    let port = served.port;
    let uri = |folder: &str| {
        format!("nbds://localhost:{port}/?tls-certificates={}", served.folder(folder))
    };
    if let Some((done, said)) = run("nbdinfo", &[&uri("pki")]) {
        assert!(done && said.contains("TLS") && said.contains("export-size: 16777216"), "{said}");
        let plain = format!("nbd://localhost:{port}");
        let (done, said) = run("nbdinfo", &[&plain]).expect("it is there");
        assert!(!done && said.contains("TLS"), "{said}");
        std::fs::create_dir(served.folder("bare")).expect("it is new");
        std::fs::copy(served.folder("pki/ca-cert.pem"), served.folder("bare/ca-cert.pem"))
            .expect("it is there");
        for folder in ["bare", "others"] {
            let (done, said) = run("nbdinfo", &[&uri(folder)]).expect("it is there");
            assert!(!done, "{folder}: {said}");
        }
        let data: Vec<u8> = (0..BYTES).map(|n| (n / 4096 * 7 + n) as u8).collect();
        std::fs::write(served.folder("a"), &data).expect("it can be written");
        std::fs::write(served.folder("b"), []).expect("it can be written");
        for (from, to) in [("a", &*uri("pki")), (&*uri("pki"), "b")] {
            let (done, said) = run("nbdcopy", &[from, to]).expect("it comes with nbdinfo");
            assert!(done, "{said}");
        }
        assert!(std::fs::read(served.folder("b")).expect("it is there") == data);
    }
    let creds = |folder: &str| {
        format!("tls-creds-x509,id=tls,endpoint=client,dir={}", served.folder(folder))
    };
    let image = format!("driver=nbd,host=localhost,port={port},tls-creds=tls");
    let args = |creds: &str, command: &str| -> Vec<String> {
        ["--object", creds, "--image-opts", "-c", command, &image].map(String::from).to_vec()
    };
    let qemu_io = |creds: &str, command: &str| {
        let args = args(creds, command);
        run("qemu-io", &args.iter().map(String::as_str).collect::<Vec<_>>())
    };
    if let Some((done, said)) = qemu_io(&creds("pki"), "write -P 9 1M 64k") {
        assert!(done && said.contains("65536/65536"), "{said}");
        let (done, said) = qemu_io(&creds("pki"), "read -P 9 1M 64k").expect("it is there");
        assert!(done && !said.contains("failed"), "{said}");
        let (done, said) = qemu_io(&creds("others"), "read 1M 64k").expect("it is there");
        assert!(!done, "{said}");
    }
    let report = served.end();
    assert_eq!((report.connections.broken, report.failed), (0, 0), "{report:?}");
}

#[test]
fn a_folder_of_no_use_is_refused_by_its_file() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let pki = dir.path().join("pki");
    let told = |folder: &Path| Tls::open(folder).expect_err("it is of no use").to_string();
    assert!(told(&pki).contains("ca-cert.pem"), "{}", told(&pki));
    if certificates(&pki).is_none() || certificates(&dir.path().join("others")).is_none() {
        return;
    }
    Tls::open(&pki).expect("it is whole");
    let key = pki.join("server-key.pem");
    std::fs::copy(dir.path().join("others/server-key.pem"), &key).expect("it is there");
    assert!(told(&pki).contains("server-key.pem"), "{}", told(&pki));
    std::fs::write(&key, "no key").expect("it can be written");
    assert!(told(&pki).contains("there is no private key in it"), "{}", told(&pki));
    std::fs::remove_file(&key).expect("it is there");
    assert!(told(&pki).contains("server-key.pem: No such file"), "{}", told(&pki));
    std::fs::write(pki.join("ca-cert.pem"), "no certificate").expect("it can be written");
    assert!(told(&pki).contains("there are no certificates in it"), "{}", told(&pki));
}
