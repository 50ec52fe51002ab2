//! OCZ Vertex, with Indilinx's controller.

use fourcorners_catalogue::Model;

use super::{Method, Review, fresh_and_used, profile, reviewed};

const VERTEX: &str = "ocz-vertex-120gb";

#[test]
fn an_indilinx_drive_falls_from_13_to_7_mb_per_s_when_used() {
    let (fresh, used) = fresh_and_used(&reviewed(VERTEX, &[], Method::UsedState));
    assert!((fresh / 13.0 - 1.0).abs() < 0.25, "{fresh}");
    assert!((used / 7.0 - 1.0).abs() < 0.15, "{used}");
    // With a map of pages in place of log blocks, what its controller can do is what it always does.
    let mut by_page = profile(VERTEX, &[]);
    let Model::Ssd(ssd) = &mut by_page.model else { panic!("a hard disk") };
    ssd.log_blocks = None;
    let (fresh, used) = fresh_and_used(&Review::of(by_page, Method::UsedState, false));
    assert!(used > fresh * 0.95, "{used} of {fresh}");
}
