//! Names of figures: what was measured, spelled by machine and in words.

/// What a figure's name says: `random_write_4k_qd3_incompressible_used` and the like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FigureName<'a> {
    /// `random` or `sequential`.
    pub access: &'a str,
    /// `read`, `write`, or `mixed` and the share of reads: `mixed65`.
    pub op: &'a str,
    /// Block size in KiB, MiB or bytes, as spelled: `4k`, `1m`, `512`.
    block: &'a str,
    /// I/Os in flight.
    pub queue_depth: u32,
    /// What follows the queue depth: data and state, in the name's own spelling.
    pub rest: &'a str,
}

impl<'a> FigureName<'a> {
    /// Takes a name apart; `None` when it is not formed like one.
    pub fn parse(name: &'a str) -> Option<FigureName<'a>> {
        let (access, after) = name.split_once('_')?;
        let (op, after) = after.split_once('_')?;
        let (block, after) = after.split_once('_')?;
        let (depth, rest) = after.split_once('_').unwrap_or((after, ""));
        let known = matches!(access, "random" | "sequential");
        let digits = block.strip_suffix(['k', 'm']).unwrap_or(block);
        let sized = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let queue_depth = depth.strip_prefix("qd")?.parse().ok()?;
        let name = FigureName { access, op, block, queue_depth, rest };
        (known && sized && name.read_percent().is_some()).then_some(name)
    }

    /// Share of reads, percent.
    pub fn read_percent(&self) -> Option<u8> {
        match self.op {
            "read" => Some(100),
            "write" => Some(0),
            mixed => mixed.strip_prefix("mixed")?.parse().ok().filter(|percent| *percent <= 100),
        }
    }

    /// Block size; `None` of one that is larger than any.
    pub fn block_bytes(&self) -> Option<u32> {
        let unit = match self.block.as_bytes().last() {
            Some(b'k') => 1 << 10,
            Some(b'm') => 1 << 20,
            _ => 1,
        };
        self.block.trim_end_matches(['k', 'm']).parse::<u32>().ok()?.checked_mul(unit)
    }

    /// "4 KiB random write".
    pub fn what(&self) -> String {
        let digits = self.block.trim_end_matches(['k', 'm']);
        let unit = match self.block.as_bytes().last() {
            Some(b'k') => "KiB",
            Some(b'm') => "MiB",
            _ => "bytes",
        };
        match self.op.strip_prefix("mixed") {
            Some(percent) => format!("{digits} {unit} {}, {percent} % reads", self.access),
            None => format!("{digits} {unit} {} {}", self.access, self.op),
        }
    }

    /// "QD 3, incompressible, used state".
    pub fn how(&self) -> String {
        let mut how = format!("QD {}", self.queue_depth);
        for word in self.rest.split('_').filter(|word| !word.is_empty()) {
            how.push_str(", ");
            if let Some(words) = counted(word) {
                how.push_str(&words);
                continue;
            }
            how.push_str(match word {
                "flush" => "a flush after each",
                "fua" => "FUA",
                word => word,
            });
            if matches!(word, "used" | "fresh" | "filled" | "steady") {
                how.push_str(" state");
            }
        }
        how
    }
}

/// A part of a figure's name in words: `full40` is "40 % full", and what has no number is as it was.
pub fn part_words(part: &str) -> String {
    counted(part).unwrap_or_else(|| part.into())
}

/// That of a part that ends in a number.
fn counted(part: &str) -> Option<String> {
    let number = |prefix: &str| {
        let number = part.strip_prefix(prefix)?;
        number.starts_with(|c: char| c.is_ascii_digit()).then_some(number)
    };
    let share = |what: &&str| Some(format!("{} % {what}", number(what)?));
    let jobs = || Some(format!("{} jobs", number("jobs")?));
    let depth = || Some(format!("QD {}", number("qd")?));
    ["spare", "compressible", "full"].iter().find_map(share).or_else(jobs).or_else(depth)
}

/// A figure's name in words: `random_write_4k_qd3_incompressible_used` is "4 KiB random write,
/// QD 3, incompressible, used state". A name of another form is shown with spaces.
pub fn figure_words(name: &str) -> String {
    match FigureName::parse(name) {
        Some(figure) => format!("{}, {}", figure.what(), figure.how()),
        None => name.replace('_', " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_names_become_words() {
        let cases = [
            ("random_write_4k_qd3_repeating", "4 KiB random write, QD 3, repeating"),
            ("random_write_4k_qd32_incompressible", "4 KiB random write, QD 32, incompressible"),
            ("random_read_4k_qd3", "4 KiB random read, QD 3"),
            ("sequential_read_128k_qd1", "128 KiB sequential read, QD 1"),
            (
                "random_write_4k_qd3_incompressible_used",
                "4 KiB random write, QD 3, incompressible, used state",
            ),
            (
                "random_write_4k_qd32_incompressible_spare12.5",
                "4 KiB random write, QD 32, incompressible, 12.5 % spare",
            ),
            ("sequential_write_1m_qd8", "1 MiB sequential write, QD 8"),
            ("random_mixed65_512_qd32_steady", "512 bytes random, 65 % reads, QD 32, steady state"),
            ("random_mixed165_4k_qd32_steady", "random mixed165 4k qd32 steady"),
            (
                "sequential_write_4k_qd1_flush_jobs10",
                "4 KiB sequential write, QD 1, a flush after each, 10 jobs",
            ),
            ("sequential_write_4k_qd1_fua", "4 KiB sequential write, QD 1, FUA"),
            ("trim_time", "trim time"),
            ("random_write_4k_qd", "random write 4k qd"),
            ("random_write_k_qd1", "random write k qd1"),
            ("", ""),
        ];
        for (name, words) in cases {
            assert_eq!(figure_words(name), words);
        }
    }

    #[test]
    fn parts_that_end_in_a_number_say_what_it_counts() {
        let cases = [
            ("full40", "40 % full"),
            ("spare12.5", "12.5 % spare"),
            ("compressible0", "0 % compressible"),
            ("jobs4", "4 jobs"),
            ("qd32", "QD 32"),
            ("full", "full"),
            ("fuller", "fuller"),
            ("used", "used"),
            ("", ""),
        ];
        for (part, words) in cases {
            assert_eq!(part_words(part), words);
        }
    }
}
