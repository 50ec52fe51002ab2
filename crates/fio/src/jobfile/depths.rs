//! Queue depths that do not count.

use super::described::Described;

/// Jobs with a depth whose engine has one I/O in flight. fio prints a note of them, too.
#[derive(Default)]
pub(super) struct OneAtATime {
    jobs: Vec<Jobs>,
}

/// Those of one depth and one engine.
struct Jobs {
    names: Vec<String>,
    depth: u32,
    engine: String,
    /// Whether the job file names no engine.
    by_default: bool,
}

impl OneAtATime {
    /// Takes in a section.
    pub(super) fn note(&mut self, described: &Described) {
        let options = &described.options;
        if !options.synchronous || options.depth <= 1 {
            return;
        }
        let name = described.name.clone();
        let (depth, engine) = (options.depth, options.engine.clone());
        let by_default = !described.settings.iter().any(|setting| setting.key == "ioengine");
        let alike = |jobs: &&mut Jobs| {
            (jobs.depth, &jobs.engine, jobs.by_default) == (depth, &engine, by_default)
        };
        match self.jobs.iter_mut().find(alike) {
            Some(jobs) => jobs.names.push(name),
            None => self.jobs.push(Jobs { names: vec![name], depth, engine, by_default }),
        }
    }

    pub(super) fn into_sentences(self) -> impl Iterator<Item = String> {
        self.jobs.into_iter().map(|Jobs { names, depth, engine, by_default }| {
            let jobs = if names.len() == 1 { "job" } else { "jobs" };
            let default = if by_default { " (fio's default)" } else { "" };
            format!(
                "{jobs} {}: iodepth={depth} does not count with ioengine={engine}{default}; \
                 ioengine=libaio or io_uring makes it count",
                names.join(", ")
            )
        })
    }
}
