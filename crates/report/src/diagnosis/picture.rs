//! The picture of a drive: its parts on the way of a write, solid, hatched or dotted by how far each is known.
//!
//! It is drawn twice, for a wide page and for a narrow one, because words that are scaled down to a phone cannot be read.
//! Of both, the style sheet shows one.

use maud::{Markup, html};

use super::parts::{Known, Part, Parts};

/// Space around what is drawn in a part.
const EDGE: f64 = 14.0;
/// Dies that are drawn at most, and where their number is not known.
const MOST_DIES: usize = 64;
const DIES_OF_UNKNOWN: usize = 8;
/// What the write buffer is drawn as, which says nothing of its size.
const SLOTS: usize = 6;

/// Where something is drawn.
#[derive(Clone, Copy)]
struct Frame {
    x: f64,
    y: f64,
    w: f64,
    h: f64,
}

const fn frame(x: f64, y: f64, w: f64, h: f64) -> Frame {
    Frame { x, y, w, h }
}

impl Frame {
    /// What is left of it below and right of these distances.
    fn inner(self, left: f64, top: f64) -> Frame {
        frame(self.x + left, self.y + top, self.w - left - EDGE, self.h - top - EDGE)
    }
}

/// Where all parts are drawn.
struct Layout {
    name: &'static str,
    size: (f64, f64),
    host: Frame,
    /// From the host to the device, and where its words begin.
    link: ([f64; 4], (f64, f64)),
    device: Frame,
    controller: Frame,
    read_ahead: Frame,
    trim: Frame,
    compression: Frame,
    map: Frame,
    /// The distances of the bar of the map from the edge of its part.
    map_bar: (f64, f64),
    buffer: Frame,
    flash: Frame,
    dies: Frame,
    row: Frame,
    slc: Frame,
    /// A strip of all flash, and how far from its part's edge it begins.
    spare: Frame,
    spare_bar: (f64, f64),
    /// How far below the edge of its part the line of what belongs to it is.
    spare_line: f64,
    /// From the controller to the buffer, and from there to the flash.
    ways: [[f64; 4]; 2],
}

/// Where in a part a line stands that has another one in it, below its own words, how far below it a second one is, and how far
/// the names reach.
const LINE_AT: f64 = 69.0;
const LINE_BELOW: f64 = 19.0;
const LINE_NAME: f64 = 80.0;
const LINE_LONG_NAME: f64 = 138.0;

const WIDE: Layout = Layout {
    name: "broad",
    size: (1040.0, 676.0),
    host: frame(1.0, 128.0, 99.0, 60.0),
    link: ([100.0, 158.0, 220.0, 158.0], (112.0, 158.0)),
    device: frame(220.0, 1.0, 819.0, 674.0),
    controller: frame(236.0, 44.0, 500.0, 260.0),
    read_ahead: frame(250.0, 78.0, 150.0, 98.0),
    trim: frame(411.0, 78.0, 150.0, 98.0),
    compression: frame(572.0, 78.0, 150.0, 98.0),
    map: frame(250.0, 186.0, 472.0, 104.0),
    map_bar: (200.0, 20.0),
    buffer: frame(776.0, 44.0, 248.0, 260.0),
    flash: frame(236.0, 336.0, 788.0, 324.0),
    dies: frame(250.0, 370.0, 220.0, 182.0),
    row: frame(481.0, 370.0, 300.0, 182.0),
    slc: frame(792.0, 370.0, 218.0, 182.0),
    spare: frame(250.0, 562.0, 760.0, 84.0),
    spare_bar: (240.0, 18.0),
    spare_line: LINE_AT,
    ways: [[736.0, 174.0, 776.0, 174.0], [900.0, 304.0, 900.0, 336.0]],
};

const NARROW: Layout = Layout {
    name: "narrow",
    size: (328.0, 1422.0),
    host: frame(1.0, 1.0, 326.0, 40.0),
    link: ([40.0, 41.0, 40.0, 112.0], (54.0, 42.0)),
    device: frame(1.0, 112.0, 326.0, 1309.0),
    controller: frame(11.0, 152.0, 306.0, 472.0),
    read_ahead: frame(22.0, 180.0, 284.0, 60.0),
    trim: frame(22.0, 246.0, 284.0, 98.0),
    compression: frame(22.0, 354.0, 284.0, 98.0),
    map: frame(22.0, 462.0, 284.0, 150.0),
    map_bar: (EDGE, 98.0),
    buffer: frame(11.0, 650.0, 306.0, 150.0),
    flash: frame(11.0, 826.0, 306.0, 584.0),
    dies: frame(22.0, 860.0, 284.0, 130.0),
    row: frame(22.0, 1000.0, 284.0, 136.0),
    slc: frame(22.0, 1146.0, 284.0, 128.0),
    spare: frame(22.0, 1284.0, 284.0, 114.0),
    spare_bar: (EDGE, 60.0),
    spare_line: 103.0,
    ways: [[164.0, 624.0, 164.0, 650.0], [164.0, 800.0, 164.0, 826.0]],
};

/// The picture, for a wide page and for a narrow one, and what it shows in words.
pub(super) fn picture(parts: &Parts) -> Markup {
    html! {
        div.inside role="img" aria-label=(said(parts)) {
            (drawing(parts, &WIDE))
            (drawing(parts, &NARROW))
        }
    }
}

/// What the strokes mean.
pub(super) fn legend() -> Markup {
    let all = [
        (Known::Determined, "determined, within its interval"),
        (Known::Bound, "a bound: at least that"),
        (Known::Unknown, "not known"),
    ];
    html! {
        ul.legend.strokes aria-label="What the strokes mean" {
            @for (known, words) in all {
                li class=(known.class()) {
                    svg width="34" height="16" aria-hidden="true" {
                        (hatches("legend"))
                        (shape(known, "legend", frame(1.0, 1.0, 32.0, 14.0)))
                    }
                    span { (words) }
                }
            }
        }
    }
}

/// The picture in a sentence for each part.
fn said(parts: &Parts) -> String {
    let shown = parts.all().into_iter().filter(|it| !is_left_out(parts, it));
    let all: Vec<String> = shown.map(Part::said).collect();
    let flash = if parts.has_no_flash() { " It has no flash to draw." } else { "" };
    format!("The parts of the drive on the way of a write. {}.{flash}", all.join(". "))
}

/// What is not in the picture: the ratio of a compression that there is not, and flash of what has none.
fn is_left_out(parts: &Parts, part: &Part) -> bool {
    let of_flash = [
        &parts.buffer,
        &parts.dies,
        &parts.channels,
        &parts.page,
        &parts.row,
        &parts.page_kinds,
        &parts.map_unit,
        &parts.mapping,
        &parts.suspension,
        &parts.slc,
        &parts.spare,
        &parts.amplification,
        &parts.map,
    ];
    let has_no_ratio = parts.compression.value == "no" && parts.ratio.known == Known::Unknown;
    has_no_ratio && *part == parts.ratio || parts.has_no_flash() && of_flash.contains(&part)
}

fn drawing(parts: &Parts, at: &Layout) -> Markup {
    let kind = &parts.kind;
    let ([x1, y1, x2, y2], words) = at.link;
    // A device without flash ends with what it may have.
    let (height, device, controller) = match parts.has_no_flash() {
        true => {
            let foot = at.map.y;
            let controller = Frame { h: foot - at.controller.y, ..at.controller };
            let right = controller.x + controller.w + controller.x - at.device.x;
            let (w, h) = (right - at.device.x, foot + EDGE - at.device.y);
            // What is said of the link reaches as far down.
            let height = (foot + EDGE + 1.0).max(words.1 + 58.0);
            (height, Frame { w, h, ..at.device }, controller)
        }
        false => (at.size.1, at.device, at.controller),
    };
    html! {
        svg class=(at.name) viewBox=(format!("0 0 {} {height}", at.size.0)) aria-hidden="true" {
            (hatches(at.name))
            g.host { (boxed(at.host)) (text("title", at.host.x + EDGE, at.host.y + at.host.h / 2.0 + 5.0, "Host")) }
            g class=(parts.link.known.class()) {
                line.way x1=(x1) y1=(y1) x2=(x2) y2=(y2) {}
                (words_of(&parts.link, words.0, words.1))
            }
            g class=(kind.known.class()) {
                (boxed(device))
                (text("title", device.x + EDGE, device.y + 27.0, &format!("Device, kind: {}", kind.value)))
            }
            (titled("Controller", controller))
            (cell(&parts.read_ahead, at, at.read_ahead, None))
            (cell(&parts.trim, at, at.trim, Some(&parts.trim_holds_up)))
            (cell(&parts.compression, at, at.compression, Some(&parts.ratio).filter(|it| !is_left_out(parts, it))))
            @if !parts.has_no_flash() {
                (cell(&parts.map, at, at.map, None))
                (in_a_line(&parts.map_unit, at.map))
                (in_a_line_at(&parts.mapping, at.map, LINE_AT + LINE_BELOW, LINE_NAME))
                (map_bar(parts, at))
                @for [x1, y1, x2, y2] in at.ways { line.through x1=(x1) y1=(y1) x2=(x2) y2=(y2) {} }
                (cell(&parts.buffer, at, at.buffer, None))
                (slots(&parts.buffer, at))
                (titled("Flash", at.flash))
                (cell(&parts.dies, at, at.dies, None))
                g class=(parts.channels.known.class()) {
                    (words_of(&parts.channels, at.dies.x + at.dies.w / 2.0, at.dies.y))
                }
                (in_a_line(&parts.suspension, at.dies))
                (dies(&parts.dies, at))
                (row(parts, at))
                (cell(&parts.slc, at, at.slc, None))
                (tank(&parts.slc, at))
                (cell(&parts.spare, at, at.spare, None))
                (strip(parts, at))
                (in_a_line_at(&parts.amplification, at.spare, at.spare_line, LINE_LONG_NAME))
            }
        }
    }
}

/// The hatching of a drawing. Each has its own, as one that is not shown hatches nothing.
fn hatches(name: &str) -> Markup {
    html! {
        defs {
            pattern id=(format!("hatch-{name}")) width="6" height="6" patternUnits="userSpaceOnUse"
                patternTransform="rotate(45)" { path.hatch d="M1.5 0V6" {} }
        }
    }
}

fn boxed(at: Frame) -> Markup {
    html! { rect.edge x=(at.x) y=(at.y) width=(at.w) height=(at.h) rx="5" {} }
}

/// A shape that is filled by how far it is known.
fn shape(known: Known, name: &str, at: Frame) -> Markup {
    let hatched = (known == Known::Bound).then(|| format!("fill:url(#hatch-{name})"));
    html! {
        rect.shape x=(at.x) y=(at.y) width=(at.w) height=(at.h) rx="2" style=[hatched] {}
    }
}

fn text(class: &str, x: f64, y: f64, words: &str) -> Markup {
    html! { text class=(class) x=(x) y=(y) { (words) } }
}

/// A frame around several parts, of which nothing is said itself.
fn titled(words: &str, at: Frame) -> Markup {
    html! { g.group { (boxed(at)) (text("title", at.x + EDGE, at.y + 23.0, words)) } }
}

/// What is known of a part, below each other.
fn words_of(part: &Part, x: f64, y: f64) -> Markup {
    html! {
        (text("name", x, y + 18.0, part.name))
        (text("value", x, y + 36.0, &part.value))
        @if !part.beside.is_empty() { (text("beside", x, y + 52.0, &part.beside)) }
    }
}

/// A part that is in another one, with its words in a line.
fn in_a_line(part: &Part, at: Frame) -> Markup {
    in_a_line_at(part, at, LINE_AT, LINE_NAME)
}

/// The same so far below the edge, with a name that reaches so far.
fn in_a_line_at(part: &Part, at: Frame, below: f64, name: f64) -> Markup {
    html! {
        g class=(part.known.class()) {
            (text("name", at.x + 18.0, at.y + below, part.name))
            (text("value", at.x + 18.0 + name, at.y + below, &part.value))
        }
    }
}

/// A part with its words, and another one that belongs to it.
fn cell(part: &Part, layout: &Layout, at: Frame, more: Option<&Part>) -> Markup {
    html! {
        g class=(part.known.class()) {
            (boxed(at))
            (shape(part.known, layout.name, frame(at.x, at.y, 7.0, at.h)))
            (words_of(part, at.x + 18.0, at.y))
        }
        @if let Some(more) = more {
            g class=(more.known.class()) {
                (words_of(&without_repetition(part, more), at.x + 18.0, at.y + below(part)))
            }
        }
    }
}

/// Where the words of what belongs to a part begin.
fn below(part: &Part) -> f64 {
    if part.beside.is_empty() { 38.0 } else { 52.0 }
}

/// What stands beside both is said once.
fn without_repetition(part: &Part, more: &Part) -> Part {
    let beside = if part.beside == more.beside { String::new() } else { more.beside.clone() };
    Part { beside, ..more.clone() }
}

/// All of the drive, and how much of it the map reaches.
fn map_bar(parts: &Parts, layout: &Layout) -> Markup {
    let (left, top) = layout.map_bar;
    let all = Frame { h: 24.0, ..layout.map.inner(left, top) };
    // Nothing is drawn in it of a reach whose share of the drive is not known.
    let reach = match parts.map.known {
        Known::Bound => Some(1.0),
        Known::Determined => parts.map_share,
        Known::Unknown => None,
    };
    html! {
        g.unknown { (shape(Known::Unknown, layout.name, all)) }
        @if let Some(share) = reach {
            g class=(parts.map.known.class()) {
                (shape(parts.map.known, layout.name, Frame { w: all.w * share, ..all }))
            }
        }
        (text("beside", all.x, all.y + 41.0, "The bar stands for the whole drive."))
    }
}

fn slots(part: &Part, layout: &Layout) -> Markup {
    let all = layout.buffer.inner(18.0, 64.0);
    let each = all.h / SLOTS as f64;
    html! {
        g class=(part.known.class()) {
            @for slot in 0..SLOTS {
                (shape(part.known, layout.name, frame(all.x, all.y + slot as f64 * each, all.w, each - 4.0)))
            }
        }
    }
}

/// A grid of as many dies as were found; of an unknown number some, dotted.
fn dies(part: &Part, layout: &Layout) -> Markup {
    let all = layout.dies.inner(18.0, 78.0);
    let count = part.number.map_or(DIES_OF_UNKNOWN, |it| (it as usize).clamp(1, MOST_DIES));
    let columns = ((count as f64 * all.w / all.h / 1.5).sqrt().ceil() as usize).clamp(1, count);
    let rows = count.div_ceil(columns);
    let columns = count.div_ceil(rows);
    let (w, h) = (all.w / columns as f64, all.h / rows as f64);
    html! {
        g class=(part.known.class()) {
            @for die in 0..count {
                (shape(part.known, layout.name, frame(
                    all.x + (die % columns) as f64 * w,
                    all.y + (die / columns) as f64 * h,
                    w - 5.0,
                    h - 5.0,
                )))
            }
        }
    }
}

/// A row of pages over the planes of a die: as many as both say, or one, or none.
fn row(parts: &Parts, layout: &Layout) -> Markup {
    let at = layout.row;
    let all = at.inner(18.0, 76.0);
    let inside = frame(all.x + 6.0, all.y + 6.0, all.w - 12.0, all.h - 12.0);
    let pages = parts.pages_in_row.unwrap_or(1);
    let each = match (parts.pages_in_row, parts.page.known) {
        (Some(pages), _) => inside.w / pages as f64,
        (None, Known::Unknown) => inside.w,
        // One page, in a row of nobody knows how many.
        (None, _) => inside.w / 4.0,
    };
    html! {
        (cell(&parts.page, layout, at, None))
        g class=(parts.row.known.class()) {
            (words_of(&parts.row, at.x + at.w / 2.0, at.y))
            (shape(parts.row.known, layout.name, all))
        }
        (in_a_line(&parts.page_kinds, at))
        g class=(parts.page.known.class()) {
            @for page in 0..pages {
                (shape(parts.page.known, layout.name, Frame {
                    x: inside.x + page as f64 * each,
                    w: each - 4.0,
                    ..inside
                }))
            }
        }
    }
}

/// All of the flash, and at its end what is spare of it.
fn strip(parts: &Parts, layout: &Layout) -> Markup {
    let (left, top) = layout.spare_bar;
    let all = Frame { h: 24.0, ..layout.spare.inner(left, top) };
    // What the user has is known no better than what is spare.
    let (known, spare) = match parts.spare_share {
        Some(share) => (parts.spare.known, all.w * share),
        None => (Known::Unknown, 0.0),
    };
    html! {
        g.unknown { (shape(Known::Unknown, layout.name, all)) }
        @if spare > 0.0 {
            g class=(known.class()) {
                (shape(known, layout.name, Frame { x: all.x + all.w - spare, w: spare, ..all }))
            }
        }
    }
}

fn tank(part: &Part, layout: &Layout) -> Markup {
    let all = layout.slc.inner(18.0, 66.0);
    let w = all.w.min(130.0);
    let (round, x) = (9.0, all.x + (all.w - w) / 2.0);
    let (top, foot) = (all.y + round, all.y + all.h - round);
    let sides = format!(
        "M{x} {top}V{foot}A{r} {round} 0 0 0 {right} {foot}V{top}A{r} {round} 0 0 1 {x} {top}Z",
        r = w / 2.0,
        right = x + w,
    );
    let hatched = (part.known == Known::Bound).then(|| format!("fill:url(#hatch-{})", layout.name));
    html! {
        g class=(part.known.class()) {
            path.shape d=(sides) style=[hatched] {}
            ellipse.shape cx=(x + w / 2.0) cy=(top) rx=(w / 2.0) ry=(round) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use fourcorners_record::diagnosis::{Finding, Standing};

    use super::super::tests::{diagnosis, everything, nothing};
    use super::super::words::{interval_words, value_words};
    use super::*;

    fn drawn(findings: Vec<Finding>) -> String {
        picture(&Parts::of(&diagnosis(findings))).into_string()
    }

    /// The words of a drawing, without its places.
    fn words(drawing: &str) -> String {
        let label = drawing.split("aria-label=\"").nth(1).and_then(|it| it.split('"').next());
        let between = drawing.split('<').filter_map(|it| it.split_once('>')).map(|(_, it)| it);
        between.chain(label).map(|it| format!("{it} ")).collect()
    }

    fn numbers(text: &str) -> BTreeSet<String> {
        let is_in = |c: char| c.is_ascii_digit() || c == '.';
        let all = text.split(|c| !is_in(c)).map(|it| it.trim_matches('.'));
        all.filter(|it| it.chars().any(|c| c.is_ascii_digit())).map(String::from).collect()
    }

    #[test]
    fn what_is_not_known_is_dotted_and_the_same_determined_is_solid() {
        let buffer = |standing| {
            let number = Finding::number("write_buffer_kib", 496.0, "KiB", [496.0, 512.0]);
            drawn(vec![Finding { standing, ..number }])
        };
        let solid = buffer(Standing::Determined);
        assert!(solid.contains("496 KiB") && solid.contains("496 to 512 (95 %)"));
        assert!(solid.contains("<g class=\"known\">"));
        // The value is still in the finding, and is not said.
        let dotted = buffer(Standing::Undetermined);
        assert!(!dotted.contains("496") && !dotted.contains("<g class=\"known\">"));
        assert!(dotted.contains("write buffer: not known"));
    }

    #[test]
    fn a_bound_is_hatched_and_nothing_else_is() {
        let bound = |standing| {
            let least = Finding::at_least("map_reach_gib", 238.5, "GiB", "");
            drawn(vec![Finding { standing, ..least }])
        };
        let hatched = bound(Standing::Bound);
        assert!(
            hatched.contains("fill:url(#hatch-broad)") && hatched.contains("<g class=\"bound\">")
        );
        assert!(hatched.contains("at least 238 GiB"));
        let solid = bound(Standing::Determined);
        assert!(!solid.contains("fill:url") && !solid.contains("<g class=\"bound\">"));
        assert!(!drawn(nothing()).contains("fill:url"));
    }

    #[test]
    fn no_number_is_in_the_picture_that_is_not_in_a_finding() {
        // A stripe is a row on each die, which are drawn, and what a move costs is of no part.
        let said: String = everything()
            .iter()
            .filter(|it| !["stripe_bytes", "move_cost_us"].contains(&&*it.key))
            .map(|it| format!("{} {} ", value_words(it).unwrap_or_default(), interval_words(it)))
            .collect();
        let shown = numbers(&words(&drawn(everything())));
        assert_eq!(shown, numbers(&said));
        // Nothing known, no number.
        assert_eq!(numbers(&words(&drawn(nothing()))), BTreeSet::new());
    }

    #[test]
    fn of_nothing_known_all_parts_are_there() {
        let all = drawn(nothing());
        for part in Parts::of(&diagnosis(nothing())).all().iter().filter(|it| it.name != "kind") {
            assert!(all.contains(&format!(">{}<", part.name)), "{}", part.name);
        }
        assert!(!all.contains("class=\"known\"") && !all.contains("class=\"bound\""));
        // What was not looked for is not known either, and says which of the two it is.
        assert!(drawn(Vec::new()).contains("write buffer: not known, not looked for"));
        assert!(all.contains("write buffer: not known. "));
    }

    #[test]
    fn a_disk_is_drawn_without_flash_and_a_ratio_only_of_what_may_compress() {
        let mut found = nothing();
        found[0] = Finding::class("kind", "disk", "");
        let disk = drawn(found);
        assert!(disk.contains("no flash to draw") && !disk.contains("SLC cache"));
        assert!(!drawn(everything()).contains("ratio") && drawn(nothing()).contains("ratio"));
    }

    #[test]
    fn a_row_has_its_pages() {
        let pages = |page: f64, row: f64| {
            let number = |key, bytes| Finding::number(key, bytes, "bytes", [bytes, bytes]);
            let found = vec![number("page_bytes", page), number("row_bytes", row)];
            drawn(found).matches("class=\"shape\"").count()
        };
        assert_eq!(
            pages(4096.0, 16384.0) - pages(8192.0, 16384.0),
            4,
            "two pages more, drawn twice"
        );
        // Pages that do not fill a row are not drawn as if they did.
        assert_eq!(pages(6000.0, 16384.0), pages(16384.0, 16384.0));
    }
}
