//! `fourcorners report`: what was measured once, shown again without its drive: as a page, as pictures,
//! as a table.

use std::io::{ErrorKind, IsTerminal, Write, stdout};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::args::ReportArgs;
use super::named;
use super::terminal::{self, columns, say};
use super::{End, Failure};
use crate::record::Document;
use crate::report::{self, Picture, pictures};

pub(super) fn run(args: &ReportArgs) -> Result<End, Failure> {
    let document = named::read_all(&args.results).map_err(Failure::Usage)?;
    let folders = [&args.svg, &args.png];
    for folder in folders.into_iter().flatten() {
        check_folder(folder).map_err(Failure::Usage)?;
    }
    if let Some(page) = &args.output {
        report::write_atomically(page, report::page(&document).as_bytes())
            .with_context(|| format!("cannot write {}", page.display()))?;
        say(&format!("page: {}", page.display()));
    }
    if args.svg.is_some() || args.png.is_some() {
        let pictures = pictures(&document);
        if let Some(folder) = &args.svg {
            save(folder, "svg", &pictures, |picture| Ok(picture.svg.clone().into_bytes()))?;
        }
        if let Some(folder) = &args.png {
            save(folder, "png", &pictures, |picture| Ok(picture.png()?))?;
        }
    }
    let shown_elsewhere = args.output.is_some() || args.svg.is_some() || args.png.is_some();
    if args.json || !shown_elsewhere {
        print(args.json, &document)?;
    }
    Ok(End::Done)
}

/// Makes the folder of pictures, so that a place that cannot be written is told before any is drawn.
fn check_folder(folder: &Path) -> Result<(), String> {
    let made = std::fs::create_dir_all(folder);
    made.and_then(|()| tempfile::tempfile_in(folder).map(drop)).map_err(|error| {
        format!("cannot write into {}: {error}; choose another folder", folder.display())
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
        report::write_atomically(path, content)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    say(&format!("{} {} in {}", files.len(), ending.to_uppercase(), folder.display()));
    Ok(())
}

/// Prints the figures. A reader that closed the pipe has seen enough.
fn print(json: bool, document: &Document) -> anyhow::Result<()> {
    let mut stdout = stdout().lock();
    let colour = stdout.is_terminal() && terminal::colours();
    let text = match json {
        true => report::to_json(document),
        false => report::table(document, usize::from(columns()), colour),
    };
    match writeln!(stdout, "{}", text.trim_end()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("cannot print the result")
        }
        _ => Ok(()),
    }
}
