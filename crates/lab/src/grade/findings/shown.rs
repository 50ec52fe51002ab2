//! The grades of findings as a table, and as `docs/DIAGNOSE.md`.

use std::fmt::Write;

use crate::diagnose::{Detector, Evidence, Finding, Noise, Standing, Value};
use crate::validate::catalogue_hash;

use super::catalogue::{CatalogueCell, CatalogueRow, detectors};
use super::population::Drawn;
use super::truth::{Grade, Truth, number};
use super::{OfProperty, Tally};

/// What a finding says, in words.
pub(super) fn value(finding: &Finding) -> String {
    match (&finding.value, finding.standing) {
        (None, _) | (_, Standing::Undetermined) => "undetermined".into(),
        (Some(Value::Number(value)), Standing::Bound) => format!("at least {}", number(*value)),
        (Some(Value::Number(value)), Standing::Determined) => number(*value),
        (Some(Value::Class(class)), _) => class.clone(),
    }
}

/// What repeats a mistake, and what it is. `ran` is what was measured, as each detector leaves the drive otherwise than it was.
pub(super) fn mistake(
    (drawn, used): (&Drawn, bool),
    ran: &[Evidence],
    finding: &Finding,
    truth: &Truth,
    noise: Noise,
) -> String {
    let detector = Detector::ALL.iter().find(|it| it.keys().contains(&finding.key.as_str()));
    let last = ran.iter().position(|by| detector.is_some_and(|it| it.name() == by.detector));
    let names = ran.iter().take(last.map_or(ran.len(), |last| last + 1));
    let only = names.map(|by| by.detector.as_str()).collect::<Vec<&str>>().join(",");
    let found = match finding.standing {
        Standing::Undetermined => format!("undetermined ({})", finding.reason),
        _ => value(finding),
    };
    if used {
        return format!(
            "{} of a used drive: found {found}, true is {}: fourcorners grade --findings --seed {} --drives {} --only {} --noise {}",
            finding.key,
            truth.words(),
            drawn.draw,
            drawn.index + 1,
            drawn.index,
            noise.name()
        );
    }
    format!(
        "{}: found {found}, true is {}: fourcorners diagnose {} --only {only} --noise {}",
        finding.key,
        truth.words(),
        drawn.arguments(),
        noise.name()
    )
}

/// The grades of several noises as a table.
pub fn table(tallies: &[Tally]) -> String {
    let mut text = String::from(HEAD_OF_TABLE);
    let percent = |part: usize, all: usize| match all {
        0 => "-".to_string(),
        all => format!("{:.0} %", part as f64 / all as f64 * 100.0),
    };
    for tally in tallies {
        for (key, of_it) in &tally.findings {
            let of_it: &OfProperty = of_it;
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "| {} | `{key}` | {} | {} | {} | {} | {} | {} | {} | {} |",
                tally.noise,
                of_it.drives,
                of_it.identifiable,
                percent(of_it.right, of_it.identifiable),
                percent(of_it.undetermined, of_it.identifiable),
                of_it.wrong,
                of_it.lucky,
                of_it.intervals,
                percent(of_it.covering, of_it.intervals),
            );
        }
    }
    text
}

/// What the document is made of.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// The command that makes the grades again.
    pub command: &'a str,
    /// The grades by noise.
    pub tallies: &'a [Tally],
    /// What is found of the drives of the catalogue.
    pub catalogue: &'a [CatalogueRow],
}

/// The document as Markdown.
pub fn document(of: &Document<'_>) -> String {
    let mut text = String::from(INTRODUCTION);
    let _ = write!(text, "`{}`\n\n{}", of.command, table(of.tallies));
    let all = || of.tallies.iter().flat_map(|tally| tally.findings.values());
    list(&mut text, "What was wrong", all().flat_map(|it| &it.worst));
    list(&mut text, "What could be told and was not", all().flat_map(|it| &it.missed));
    let _ = write!(text, "\n{CATALOGUE}");
    let keys = || detectors().into_iter().flat_map(Detector::keys).copied();
    let heads: Vec<String> = keys().map(|key| format!("`{key}`")).collect();
    let _ = writeln!(text, "| drive | size | {} |", heads.join(" | "));
    let _ = writeln!(text, "|---|---|{}", "---|".repeat(heads.len()));
    for row in of.catalogue {
        let cells: Vec<String> = keys()
            .map(|key| row.cells.iter().find(|cell| cell.key == key).map_or("-".into(), cell))
            .collect();
        let size = if row.factor == 1 { "whole".into() } else { format!("1/{}", row.factor) };
        let _ = writeln!(text, "| {} | {size} | {} |", row.drive, cells.join(" | "));
    }
    let cells = || of.catalogue.iter().flat_map(|row| &row.cells);
    let count = |grade: Grade| cells().filter(|cell| cell.grade == grade).count();
    let missed = cells().filter(|cell| cell.grade == Grade::Undetermined && cell.told).count();
    let _ = writeln!(
        text,
        "\nOf {} findings, {} are right and {} wrong. The other {} are undetermined, although the times could tell {missed} of them.\n\n\
         Made at the catalogue `{}`.",
        cells().count(),
        count(Grade::Right),
        count(Grade::Wrong),
        count(Grade::Undetermined),
        catalogue_hash()
    );
    text
}

fn list<'a>(text: &mut String, what: &str, lines: impl Iterator<Item = &'a String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        let _ = writeln!(
            text,
            "\n{what}, the first of each property and noise, by the command that repeats it:\n"
        );
        lines.for_each(|line| text.push_str(&format!("- `{line}`\n")));
    }
}

fn cell(cell: &CatalogueCell) -> String {
    match (cell.grade, cell.told) {
        (Grade::Right, _) => cell.found.clone(),
        (Grade::Wrong, _) => format!("**{}, true: {}**", cell.found, cell.so),
        (Grade::Undetermined, true) => format!("{} (true: {})", cell.found, cell.so),
        (Grade::Undetermined, false) => cell.found.clone(),
    }
}

const HEAD_OF_TABLE: &str = "\
| noise | property | drives | can be told | right | undetermined | wrong | of these right by luck | intervals | holding the truth |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|
";

const INTRODUCTION: &str = "\
# What is inside a drive, and how often `diagnose` is right

Made by `scripts/evidence findings`. `fourcorners diagnose TARGET` finds properties of a drive from the times of its I/Os
alone. It knows no model, no profile and no counter. Each property has a value with an interval of 95 %, a bound, or it is
undetermined and the reason is given.

| detector | finds | how | writes |
|---|---|---|---|
| `kind` | SSD, hard disk, memory, or memory in front of something slower | reads of 4 KiB near and far, of 64 KiB, and on a real machine of its own memory | a fortieth of the drive, once for all detectors, 4 GiB at most |
| `row` | page of the flash; row, a page on each plane of a die | reads of 8 KiB that cross a border of pages take longer than reads of either half; the border of a row does not | nothing more |
| `dies` | dies that data written in order lies on in turn (`dies`), the channels that they share (`channels`), and after how much it comes back to the same die (`stripe_bytes`) | two reads at once take longer if both are of one die: at which distances they do, is the pattern | nothing more |
| `page-kinds` | in how many times pages are read (`page_kinds`): 2 as of cells with two bits, 3 as of cells with three | places are read 16 to 64 times each, by chance; their middle times lie in as many groups, equally frequent ones, each as narrow as the times of one place | nothing more |
| `read-ahead` | whether reads in order are fetched before they are asked for (`read_ahead`) | the third of three reads in order is faster than the third of three backwards | nothing more |
| `write-buffer` | KiB that a drive at rest takes before writes wait | writes in order stop until the first program operation ends | a fiftieth of the drive |
| `map-unit` | bytes that are written at least, whatever is asked for (`map_unit_bytes`) | a write that covers a unit in part waits for the rest of it to be read: the largest size that takes longer half of it off a multiple of it | 13 MB |
| `suspension` | whether a program makes way for a read (`suspension`: yes, no) | reads late in the flush of a burst: whether they take longer the more is left of it, or equally long | 310 MB at most |
| `slc-cache` | MiB that are written faster than the rest | the rate of writes in order drops, or pauses begin that there were none of before, and it is not back after a moment's rest; a drive that holds data is emptied by a TRIM of all of it first | two fifths of the drive |
| `map-reach` | GiB that the map in the drive's memory reaches | random reads are slower in a span beyond that | all of the drive |
| `compression` | whether less is stored of data that compresses (`compression`), and how many times less at most (`compression_ratio`) | writes in order of eleven compressibilities go at rates that rise with it, below the rate of the link | a ninth of the drive, 2.2 GB at least |
| `mapping` | whether data may lie anywhere, or in blocks with a log of some (`mapping`: pages, log blocks), and then how many areas at least can be written in turn (`log_areas`) | 16 MiB are written again and again in one area and in up to 1024, apart from each other: the rate falls at a number of them, and reads are as fast in all | all of the drive, and 1.7 GB |
| `spare` | percent of its space that a full drive can be written at random before it collects (`spare_percent`) | emptied by a TRIM of all of it, filled in order and then written at random, the rate falls; twice | 4.4 times the drive at most |
| `amplification` | how many times as much a used drive writes as is written at random, without its map (`write_amplification`), and the microseconds that a move of 4 KiB costs (`move_cost_us`) | where the rate falls says what is spare, and theory what is moved with so much; the times have to grow alike to where collection begins, to the end, and in what is left once a fifth is trimmed | 4.6 times the drive at most |
| `trim` | whether a TRIM works, does nothing or is not offered (`trim`), and whether reads wait for one (`trim_holds_up_reads`) | a used drive writes faster at random after a TRIM of half of it, and what was trimmed is read sooner than what was written; reads are sent right after TRIMs | 2.7 times the drive |
| `collection` | whether it wins back space in pauses (`collection_idle`), and whether writes stall for it (`collection_pacing`: paced, stalls) | a used drive writes faster at random after a pause, and one that was only filled does not; the longest waits of writes, in programs | 3.5 times the drive at most |

Without options `kind`, `row`, `dies`, `page-kinds`, `read-ahead` and `write-buffer` are run, which write a twentieth of the drive at most.

With `--out DIR` what each detector measured is kept as soon as it is finished, and `--resume DIR` goes on with the next one: a real drive
as it is, a virtual SSD as the last one left it, so that the findings are those of a run in one piece, to the bit. Virtual drives whose
state cannot be kept (hard disks, arrays, SSDs with `[log_blocks]`, `[streams]` or `map.memory_kib`) are diagnosed anew, which gives the same.

What it cannot know: a model's drives have the mechanisms of this project's model, and a real drive may have others. A pattern that does
not fit is undetermined, but agreement with drawn drives is no proof for hardware. Reads of memory through a kernel take up to 40 us,
and on a machine that is slow to wake 70, so that its own memory is read in the same way: what is quicker, or not longer than half as
much again and 20 us, is no SSD for certain, and only its dies are said; memory further away, as behind a network, counts as one. A buffer is seen
only if the link fills it before the first page is programmed; the figure is the profile's `buffer.write_kib` without the rows that are
being filled. A cache is seen only if the link is not what limits, and nothing excludes one that is larger than what was written. One that is emptied in pauses
as far apart as it is large, or half of that, is not told from a drive that pauses all along. A drive that holds data has another
cache, or seems to: it is emptied by a TRIM first, and of one that is not empty then, or whose reads do not tell, nothing is said. A
border of pages is seen only if a page takes longer from the flash than 4 KiB take over the link. Dies are those that read by
themselves: planes that do count as dies, and of dies that always work together one is seen. A stripe of more than 16 MiB is not looked
for. Channels are seen only if a page takes longer over their wires than the rest of a read (of a model's drive, than the flash takes to
read it). If all pages take equally long to read, nothing is said: they may lie in a cache with one bit a cell, or be kept in memory.
Of three kinds of which two take equally long nothing is said either, because those two look like one that is twice as frequent.
The unit of the map is seen only if the rest of a unit takes longer to read than the data takes over the link, and if a write waits for
it: a drive that takes data first and reads later shows none. Units of more than 16 KiB are not looked for, nor those of 4 KiB of a
drive that takes no less. That programs make way is seen only of a drive whose flushes wait for the flash: with capacitors against
power cuts they do not. That they do not is said only if reads wait for more than 250 us, since making way may take almost as long;
where the data of a row is longer on its way to a die than its program, reads wait for that, and it is said in error.
A map by pages is said of a drive that writes at one rate in any number of areas, as one does whose buffer holds 16 MiB, or that has log
blocks for more areas than were written. Areas that lie in two blocks take two, so that their number is a bound.
Compression is seen only where the flash limits data that does not compress, and its ratio is a bound where the link limits
data that does; data that repeats one byte is judged apart. A TRIM is said to do nothing only if the drive was faster when it was just
filled: otherwise there is nothing to win back. Reads of what was trimmed have to agree: of a drive that forgets it and is no faster,
as one that folds its cache in the foreground may be, nothing is said, nor of one that is faster and reads it as late as before. A drive
that takes part of a TRIM, or a while to act on it, counts as one on which it works; so does any that becomes faster by a twentieth. What is spare is the over-provisioning without the blocks that are kept open or
free, and with the blocks that an SLC cache has of its own; it is seen only if collection makes the drive slower. It is said only of a
drive that a TRIM empties: reads of nothing have to be sooner than those of the flash. A drive whose TRIMs do nothing, free a part or
act later than a minute is undetermined, and so is one that shows another figure the second time. Data that lies in free blocks with one
bit a cell takes more of it, and how much does depends on what was written before: drives where that and a block of each die are more
than half a point and a twentieth of it are not graded. Write amplification is that of data, without what the map writes, of a drive that collects the blocks with the least valid
data, and is said only if the flash limits before collection begins, not where more than half is spare, and not of one that is faster after a pause. One that
chooses among two blocks moves more, and of few blocks is sometimes taken for the other. That a drive collects in pauses is seen only if
collection makes it slower and what it wins shows in a thirty-second of the drive, and that it does not is said only of a drive that has
something to win. A cache that is emptied in pauses hides both: of a drive that is faster after a pause also when it was just filled,
nothing is said. After how long it begins is not said. Paced are writes that wait for 13 programs at most; a flush has to wait for the
flash, or what a program takes is not known.

What it says of a file in memory, of zram, of a loop device and of a served drive behind the kernel: docs/REAL-DRIVES.md.

The same grades of 2,000 drives, made by hand: docs/DIAGNOSE-2000.md.

## Drives that are drawn

SSDs of 0.7 to 7 GiB with 2 to 16 dies, 1 to 8 channels, 1 to 4 planes, pages of 4 to 16 KiB, buffers of 128 KiB to 4 MiB; half have
an SLC cache and half a map that is not all in memory, half of those without a cache compress, two in five do nothing with a TRIM or
take none, and one in five reads all pages alike and two have kinds that are near each other or alike, so that the others are the control. One drive in 20 is a hard disk. What can be told is decided from the profile by closed
form, before anything is measured (`crates/lab/src/grade/findings/truth.rs`). Wrong is what is said and not so, and also what is said
where the times cannot tell, even if it is right. Where the closed form is known only within bounds and they do not decide, a drive is not
among those that can be told; what is said of it counts if it is wrong. Rows of `used` are of every fourth drive, filled and written at
random by once to twice its size before. `collection` is run on each drive with another way to collect: half do so in pauses, half stall,
and half of the caches are left out; `map-unit` on each with a map of units of 4, 8 or 16 KiB; `suspension` on each
with programs that make way after 20, 60 or 150 us in every other, and flushes that note something behind them; `mapping` on each with
1 to 60 log blocks in every other, and `amplification` on each with another way to choose blocks, three in eight of them greedy, and with less
spare: of it the truth is what the drive's counters say. The noise `lab` makes times vary by 1 % and
2 us, `host` by 3 % and 48 us, with a clock of 1 us and one answer in a thousand 1 to 10 ms late.

";

const CATALOGUE: &str = "\
## Drives of the catalogue

Without noise; large ones are scaled down, with the same dies, link and controller. Bold is wrong. In brackets is what could be told
and was not. `spare`, `amplification`, `trim` and `collection` are not run, which write a drive at random for longer than all others together.

";

#[cfg(test)]
mod tests {
    use super::super::population::draw;
    use super::*;
    use crate::diagnose::Cost;

    #[test]
    fn a_mistake_is_repeated_by_all_that_ran_up_to_its_detector() {
        let ran = ["kind", "row", "slc-cache", "trim"].map(|detector| Evidence {
            detector: detector.into(),
            series: Vec::new(),
            cost: Cost::default(),
            stopped: None,
        });
        let drawn = draw(1, 0);
        let said = |key: &str, used: bool| {
            let finding = Finding::undetermined(key, "why");
            mistake((&drawn, used), &ran, &finding, &Truth::None, Noise::None)
        };
        assert!(said("slc_cache_mib", false).ends_with(" --only kind,row,slc-cache --noise none"));
        assert!(said("trim", false).ends_with(" --only kind,row,slc-cache,trim --noise none"));
        assert!(said("kind", false).ends_with(" --only kind --noise none"));
        let used = said("slc_cache_mib", true);
        assert!(
            used.ends_with(
                "fourcorners grade --findings --seed 1 --drives 1 --only 0 --noise none"
            )
        );
    }

    #[test]
    fn the_document_is_of_this_catalogue_and_of_these_detectors() {
        const DOCUMENT: &str = include_str!("../../../../../docs/DIAGNOSE.md");
        let made = format!("Made at the catalogue `{}`.", catalogue_hash());
        assert!(DOCUMENT.contains(&made), "{made}: scripts/evidence findings");
        assert!(DOCUMENT.starts_with(INTRODUCTION), "scripts/evidence findings");
        for key in Detector::ALL.iter().flat_map(|detector| detector.keys()) {
            assert!(DOCUMENT.contains(key), "{key}: scripts/evidence findings");
        }
        for name in fourcorners_catalogue::names() {
            assert!(DOCUMENT.contains(&format!("| {name} |")), "{name}: scripts/evidence findings");
        }
    }

    #[test]
    fn a_wrong_cell_is_bold_and_one_that_was_missed_says_what_is_true() {
        let of = |grade, told| CatalogueCell {
            key: "kind".into(),
            found: "ssd".into(),
            so: "disk".into(),
            grade,
            told,
        };
        assert_eq!(cell(&of(Grade::Right, true)), "ssd");
        assert_eq!(cell(&of(Grade::Wrong, true)), "**ssd, true: disk**");
        assert_eq!(cell(&of(Grade::Undetermined, true)), "ssd (true: disk)");
        assert_eq!(cell(&of(Grade::Undetermined, false)), "ssd");
    }
}
