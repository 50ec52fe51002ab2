//! The least NBD client.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

pub(super) struct Client(UnixStream);

impl Client {
    /// Connects once there is somebody, and takes the default export.
    pub(super) fn connect(socket: &Path) -> Client {
        let mut stream = loop {
            match UnixStream::connect(socket) {
                Ok(stream) => break stream,
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        let mut hello = 3u32.to_be_bytes().to_vec();
        hello.extend_from_slice(b"IHAVEOPT\0\0\0\x01\0\0\0\0");
        stream.write_all(&hello).expect("it can be written");
        stream.read_exact(&mut [0; 28]).expect("it is greeted");
        Client(stream)
    }

    /// Writes 4 KiB of one byte.
    pub(super) fn write(&mut self, offset: u64, byte: u8) {
        assert_eq!(self.write_or_fail(offset, byte), 0);
    }

    /// The same; the error number of the answer, 0 for none.
    pub(super) fn write_or_fail(&mut self, offset: u64, byte: u8) -> u32 {
        self.write_bytes(offset, &[byte; 4096])
    }

    /// The same with these bytes.
    pub(super) fn write_bytes(&mut self, offset: u64, data: &[u8]) -> u32 {
        let mut request = 0x2560_9513u32.to_be_bytes().to_vec();
        request.extend_from_slice(&[0, 0, 0, 1]);
        request.extend_from_slice(&[0; 8]);
        request.extend_from_slice(&offset.to_be_bytes());
        request.extend_from_slice(&(data.len() as u32).to_be_bytes());
        request.extend_from_slice(data);
        self.0.write_all(&request).expect("it is served");
        let mut reply = [0; 16];
        self.0.read_exact(&mut reply).expect("it is answered");
        u32::from_be_bytes([reply[4], reply[5], reply[6], reply[7]])
    }
}
