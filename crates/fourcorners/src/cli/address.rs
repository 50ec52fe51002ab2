//! Where a page, or metrics, can be asked for.

use std::net::SocketAddr;

/// What whoever asks for a page is told, in a program without them.
pub(super) const WITHOUT_WEB: &str =
    "this program was built without the feature web: cargo build --features fourcorners/web";

/// An address with its port, or a port of this machine alone.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    if !cfg!(feature = "web") {
        return Err(WITHOUT_WEB.into());
    }
    let port = text.parse().map(|port: u16| SocketAddr::from(([127, 0, 0, 1], port)));
    port.or_else(|_| text.parse()).map_err(|_| {
        "give a port, for example 8642, or an address with one, for example 127.0.0.1:8642".into()
    })
}

#[cfg(all(test, feature = "web"))]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_of_this_machine() {
        let of = |text| address(text).map(|address| address.to_string());
        assert_eq!(of("8642"), Ok("127.0.0.1:8642".into()));
        assert_eq!(of("0.0.0.0:80"), Ok("0.0.0.0:80".into()));
        assert_eq!(of("[::1]:0"), Ok("[::1]:0".into()));
        for wrong in ["localhost", "127.0.0.1", "70000", "-1", ""] {
            assert!(of(wrong).is_err_and(|why| why.contains("8642")), "{wrong}");
        }
    }
}
