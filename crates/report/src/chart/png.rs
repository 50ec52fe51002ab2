//! An SVG picture as a PNG, with a font that is in this program: a machine that measures drives
//! may have none.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

use crate::pictures::PictureError;

/// Pixels for each unit of the SVG: sharp on a screen with small pixels, too.
const SCALE: f32 = 2.0;

/// What a PNG begins with: its signature and the chunk of its size.
const HEAD: usize = 8 + 25;
/// A chunk of text: its length, its kind, what it says and its check sum.
const SOFTWARE: &[u8] = b"\x00\x00\x00\x14tEXtSoftware\x00fourcorners\x33\x47\xa9\x02";

/// Noto Sans (SIL Open Font License), which has the letters of most European languages.
static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(notosans::REGULAR_TTF.to_vec());
    fonts.load_font_data(notosans::BOLD_TTF.to_vec());
    fonts.set_sans_serif_family("Noto Sans");
    Arc::new(fonts)
});

/// The PNG of an SVG.
///
/// # Errors
/// What the drawing library says; a picture of very many bars may be too large for it.
pub(crate) fn png(svg: &str) -> Result<Vec<u8>, PictureError> {
    let failed = |what: &dyn std::fmt::Display| PictureError::Drawing(what.to_string());
    let options =
        Options { fontdb: FONTS.clone(), font_family: "Noto Sans".into(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| failed(&error))?;
    let size = tree.size().to_int_size();
    let size = size.scale_by(SCALE).ok_or_else(|| failed(&"it has no size"))?;
    let mut pixels = Pixmap::new(size.width(), size.height())
        .ok_or_else(|| failed(&format!("{} x {} pixels", size.width(), size.height())))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map(signed).map_err(|error| failed(&error))
}

/// With what made it, as PNG has it (`Software`), right after its header.
fn signed(png: Vec<u8>) -> Vec<u8> {
    let (head, rest) = png.split_at(HEAD.min(png.len()));
    [head, SOFTWARE, rest].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CRC-32 as PNG has it, bit by bit.
    fn check_sum(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 * (sum & 1)))
        })
    }

    #[test]
    fn a_picture_says_what_made_it_and_is_one_still() {
        let svg = r#"<svg xmlns="http://www.w3.org/2000/svg" width="3" height="2"/>"#;
        let made = png(svg).expect("it is a picture");
        let mut rest = &made[8..];
        let mut kinds = Vec::new();
        while let [a, b, c, d, chunk @ ..] = rest {
            let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
            let (chunk, more) = chunk.split_at(4 + length);
            assert_eq!(more[..4], check_sum(chunk).to_be_bytes());
            kinds.push(String::from_utf8_lossy(&chunk[..4]).into_owned());
            rest = &more[4..];
        }
        assert_eq!(kinds.first().map(String::as_str), Some("IHDR"));
        assert_eq!(kinds.iter().filter(|kind| *kind == "tEXt").count(), 1);
        let loaded = Pixmap::decode_png(&made).expect("who reads PNG reads it");
        assert_eq!((loaded.width(), loaded.height()), (6, 4));
    }
}
