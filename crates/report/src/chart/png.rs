//! An SVG picture as a PNG, with a font that is in this program: a machine that measures drives
//! may have none.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

use crate::pictures::PictureError;

/// Pixels for each unit of the SVG: sharp on a screen with small pixels, too.
const SCALE: f32 = 2.0;

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
    pixels.encode_png().map_err(|error| failed(&error))
}
