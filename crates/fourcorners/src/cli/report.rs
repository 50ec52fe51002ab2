//! `fourcorners report`: what was measured once, shown again without its drive: as a page, as pictures,
//! as a table.

use std::path::{Path, PathBuf};

use anyhow::Context;
use fourcorners_machine::save;
use fourcorners_record::Document;
use fourcorners_report::{
    self as report, HAS_PNG, Picture, PictureError, References, pictures_among,
};

use super::among;
use super::args::ReportArgs;
use super::named;
use super::out::make_writable;
use super::outcome::{End, Failure};
use super::print;
use super::replaced::{Inputs, Kind, are_apart};
use super::terminal::say;

pub(super) fn run(args: &ReportArgs) -> Result<End, Failure> {
    if args.png.is_some() && !HAS_PNG {
        return Err(Failure::Usage(PictureError::LeftOut.to_string()));
    }
    let files = [("--output", &args.output), ("--card", &args.card)];
    let files: Vec<(&str, &Path)> =
        files.into_iter().filter_map(|(name, path)| Some((name, path.as_deref()?))).collect();
    are_apart(&files).map_err(Failure::Usage)?;
    if let Some(card) = &args.card {
        let kind = card_kind(card).map_err(Failure::Usage)?;
        let inputs = Inputs::of_results(&args.results, named::database(args.db.as_ref())?);
        inputs.may_write(card, kind, args.overwrite).map_err(Failure::Usage)?;
    }
    if let Some(page) = &args.output {
        let inputs = Inputs::of_results(&args.results, named::database(args.db.as_ref())?);
        inputs.may_write(page, Kind::Page, args.overwrite).map_err(Failure::Usage)?;
    }
    let document =
        named::find_all(&args.results, named::store(args.db.as_ref())?.as_ref(), args.as_is)?;
    // All that can be refused is, before anything is written.
    let references = among::references(args.references, args.db.as_ref())?;
    let card = args.card.as_deref().map(|path| draw_card(path, &document, &references));
    let card = card.transpose()?;
    let folders = [&args.svg, &args.png];
    for folder in folders.into_iter().flatten() {
        // A place that cannot be written is told before any picture is drawn.
        make_writable(folder, "folder").map_err(Failure::Usage)?;
    }
    let pictures = match folders.iter().any(|it| it.is_some()) {
        true => pictures_among(&document, &references),
        false => Vec::new(),
    };
    for (folder, ending, kind) in [(&args.svg, "svg", Kind::Svg), (&args.png, "png", Kind::Png)] {
        let Some(folder) = folder else { continue };
        let files: Vec<String> =
            pictures.iter().map(|it| format!("{}.{ending}", it.name)).collect();
        let files = files.iter().map(|file| (file.as_str(), kind));
        Inputs::of([]).may_write_into(folder, files, args.overwrite).map_err(Failure::Usage)?;
    }
    if let Some(page) = &args.output {
        save::write_atomically(page, report::page_among(&document, &references).as_bytes())
            .with_context(|| format!("cannot write {}", page.display()))?;
        say(&format!("page: {}", page.display()));
    }
    if let Some(folder) = &args.svg {
        save(folder, "svg", &pictures, |picture| Ok(picture.svg.clone().into_bytes()))?;
    }
    if let Some(folder) = &args.png {
        save(folder, "png", &pictures, |picture| Ok(picture.png()?))?;
    }
    if let (Some(path), Some(card)) = (&args.card, &card) {
        save::write_atomically(path, card)
            .with_context(|| format!("cannot write {}", path.display()))?;
        say(&format!("card: {}", path.display()));
    }
    let files = [&args.output, &args.svg, &args.png, &args.card];
    let shown_elsewhere = files.iter().any(|file| file.is_some());
    let pasted = args.pasted.form();
    if args.json || pasted.is_some() || !shown_elsewhere {
        print::document(&document, args.json, pasted)?;
    }
    Ok(End::Done)
}

/// What a card is to be, by the ending of its file.
fn card_kind(path: &Path) -> Result<Kind, String> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("png") if HAS_PNG => Ok(Kind::Png),
        Some("png") => Err(PictureError::LeftOut.to_string()),
        Some("svg") => Ok(Kind::Svg),
        _ => Err(format!("--card {}: name a file that ends in .png or .svg", path.display())),
    }
}

/// What is in the file of a card.
fn draw_card(
    path: &Path,
    document: &Document,
    references: &References,
) -> Result<Vec<u8>, Failure> {
    let Some(card) = report::card_among(document, references) else {
        let why = match report::card(document) {
            None => "--card: nothing here can be ranked or placed; four-corners can",
            Some(_) => {
                "--card: one drive has no place among none: choose other --references, or name several drives"
            }
        };
        return Err(Failure::Usage(why.into()));
    };
    Ok(match card_kind(path).map_err(Failure::Usage)? {
        Kind::Png => card.png()?,
        _ => card.svg.into_bytes(),
    })
}

/// Saves all pictures, drawn on as many cores as there are: none is saved if one cannot be drawn.
fn save(
    folder: &Path,
    ending: &str,
    pictures: &[Picture],
    draw: impl Fn(&Picture) -> anyhow::Result<Vec<u8>> + Sync,
) -> anyhow::Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let share = pictures.len().div_ceil(cores).max(1);
    let one = |picture: &Picture| {
        let path = folder.join(format!("{}.{ending}", picture.name));
        let content = draw(picture).with_context(|| format!("{}", path.display()))?;
        Ok((path, content))
    };
    let work = |part: &[Picture]| part.iter().map(one).collect::<anyhow::Result<Vec<_>>>();
    let files: Vec<(PathBuf, Vec<u8>)> = std::thread::scope(|scope| {
        let workers: Vec<_> =
            pictures.chunks(share).map(|part| scope.spawn(|| work(part))).collect();
        let mut files = Vec::new();
        for worker in workers {
            files.extend(worker.join().expect("drawing does not panic")?);
        }
        anyhow::Ok(files)
    })?;
    for (path, content) in &files {
        save::write_atomically(path, content)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    say(&format!("{} {} in {}", files.len(), ending.to_uppercase(), folder.display()));
    Ok(())
}
