//! A server of the page, as the tests start and ask it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// A server over a database of its own.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
    folder: TempDir,
}

impl Server {
    pub(crate) fn start(more: &[&str]) -> Server {
        Server::over(tempfile::tempdir().expect("a folder"), more)
    }

    pub(crate) fn over(folder: TempDir, more: &[&str]) -> Server {
        Server::from(command(folder.path(), more), folder)
    }

    pub(crate) fn from(mut command: Command, folder: TempDir) -> Server {
        let mut child = command.spawn().expect("the binary is there");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let address = line.split("//").nth(1).and_then(|rest| rest.split('/').next());
        let address = address.and_then(|address| address.parse().ok());
        let address = address.unwrap_or_else(|| panic!("no address in {line:?}"));
        Server { child, address, folder }
    }

    /// Sends a request as it stands and reads the answer: its status, head and content.
    pub(crate) fn send(&self, request: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = Vec::new();
        // It may close what it refuses before all of it was sent.
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, content) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, head.to_ascii_lowercase(), content.into())
    }

    pub(crate) fn ask(&self, method: &str, path: &str, more: &str, content: &str) -> (u16, Value) {
        let (host, length) = (self.address, content.len());
        let (status, _, content) = self.send(&format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\
             Content-Length: {length}\r\n\r\n{content}"
        ));
        (status, serde_json::from_str(&content).unwrap_or(Value::String(content)))
    }

    pub(crate) fn get(&self, path: &str) -> (u16, Value) {
        self.ask("GET", path, "", "")
    }

    pub(crate) fn review(&self, wanted: &Value) -> (u16, Value) {
        let json = "Content-Type: application/json\r\n";
        self.ask("POST", "/api/reviews", json, &wanted.to_string())
    }

    /// Looks at a review until something holds of it.
    pub(crate) fn until(&self, number: u64, holds: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let (status, review) = self.get(&format!("/api/reviews/{number}"));
            assert_eq!(status, 200, "{review}");
            if holds(&review) {
                return review;
            }
            assert!(began.elapsed() < PATIENCE, "{review}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn end(mut self) -> TempDir {
        interrupt(&self.child);
        let ended = self.child.wait().expect("it was ours");
        assert_eq!(ended.code(), Some(0));
        std::mem::replace(&mut self.folder, tempfile::tempdir().expect("a folder"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Not beyond the test, however it ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn command(folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fourcorners"));
    command.args(["web", "--listen", "127.0.0.1:0", "--db"]).arg(folder.join("results.db"));
    // Not that of whoever runs the tests.
    command.env("FOURCORNERS_CONFIG", "/dev/null");
    command.args(more).current_dir(folder).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn interrupt(child: &Child) {
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    kill_process(id.expect("a process"), Signal::INT).expect("it runs");
}

pub(crate) fn has_ended(review: &Value) -> bool {
    review["state"] != "running"
}
