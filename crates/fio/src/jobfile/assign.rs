//! Taking an option of a job file: its name, and what its value means.

use std::path::PathBuf;

use fourcorners_drive::Nanos;
use fourcorners_run::streams::{BlockSizes, Rate, TakesAlong};
use fourcorners_run::verify::Kind;
use fourcorners_words::nearest;

use super::known::{self, Engine, Known};
use super::options::Options;
use super::units;
use super::value_error::ValueError;
use super::{values, ways};

const SECOND: Nanos = Nanos::from_secs(1);
const MICROSECOND: Nanos = Nanos(1000);

/// All options that have a meaning here, for the nearest to a slip.
pub(super) const TYPED: &[&str] = &[
    "name",
    "filename",
    "ioengine",
    "rw",
    "readwrite",
    "rw_sequencer",
    "bs",
    "blocksize",
    "bsrange",
    "blocksize_range",
    "bssplit",
    "ba",
    "blockalign",
    "rwmixread",
    "rwmixwrite",
    "percentage_random",
    "random_distribution",
    "random_sequence_stride",
    "latency_target",
    "latency_window",
    "latency_percentile",
    "latency_run",
    "norandommap",
    "softrandommap",
    "randrepeat",
    "allrandrepeat",
    "randseed",
    "size",
    "io_size",
    "io_limit",
    "fill_device",
    "fill_fs",
    "offset",
    "fileoffset",
    "offset_increment",
    "offset_align",
    "number_ios",
    "iodepth",
    "iodepth_low",
    "numjobs",
    "loops",
    "runtime",
    "timeout",
    "time_based",
    "ramp_time",
    "startdelay",
    "stonewall",
    "wait_for_previous",
    "new_group",
    "wait_for",
    "exitall",
    "exit_what",
    "rate",
    "rate_iops",
    "rate_process",
    "thinktime",
    "thinktime_spin",
    "thinktime_blocks",
    "thinkcycles",
    "fsync",
    "fdatasync",
    "end_fsync",
    "fsync_on_close",
    "sync",
    "zero_buffers",
    "refill_buffers",
    "buffer_pattern",
    "buffer_compress_percentage",
    "dedupe_percentage",
    "direct",
    "buffered",
    "verify",
    "do_verify",
    "read_iolog",
    "replay_no_stall",
    "replay_time_scale",
    "replay_scale",
    "replay_align",
    "hipri",
    "sqthread_poll",
    "sqthread_poll_cpu",
    "cpus_allowed",
    "cpumask",
    "numa_cpu_nodes",
    "verify_only",
    "verify_fatal",
    "verify_interval",
    "group_reporting",
    "stats",
    "percentile_list",
    "clat_percentiles",
    "lat_percentiles",
    "slat_percentiles",
    "write_bw_log",
    "write_iops_log",
    "write_lat_log",
    "log_avg_msec",
    "log_max_value",
    "log_window_value",
    "log_offset",
    "per_job_logs",
    "steadystate",
    "ss",
    "steadystate_duration",
    "ss_dur",
    "steadystate_ramp_time",
    "ss_ramp",
    "steadystate_check_interval",
    "ss_interval",
    "continue_on_error",
    "flow",
    "flow_id",
    "zonemode",
    "zonesize",
    "zonerange",
    "zoneskip",
];

impl Options {
    /// Takes an option.
    ///
    /// # Errors
    /// [`ValueError`], which is about the value, the name not included; or about the name.
    pub(super) fn set(&mut self, key: &str, value: Option<&str>) -> Result<(), ValueError> {
        let key = key.to_ascii_lowercase();
        let kb = self.kb_base;
        // An option of yes or no is yes when it stands alone.
        let flag = || values::flag(value);
        let text = || value.filter(|text| !text.is_empty()).ok_or(ValueError::Missing);
        let direction_sizes = |text: &str| -> Result<[Option<u64>; 3], ValueError> {
            values::by_direction(text, |part| units::bytes(part, kb))
        };
        match key.as_str() {
            "kb_base" => {
                self.kb_base = match text()? {
                    "1024" => 1024,
                    "1000" => 1000,
                    other => {
                        return Err(ValueError::Neither {
                            text: other.into(),
                            choices: ["1024", "1000"],
                        });
                    }
                };
            }
            "name" => self.name = Some(text()?.into()),
            "filename" => {
                let (name, several) = values::file(text()?);
                (self.filename, self.several_files) = (Some(name), several);
            }
            "ioengine" => self.engine(text()?)?,
            "rw" | "readwrite" => self.rw = values::rw_with_run(text()?, kb)?,
            "rw_sequencer" => {
                self.identical = match text()? {
                    "sequential" => false,
                    "identical" => true,
                    other => {
                        return Err(ValueError::Neither {
                            text: other.into(),
                            choices: ["sequential", "identical"],
                        });
                    }
                };
            }
            "bs" | "blocksize" => {
                let sizes = direction_sizes(text()?)?;
                for (block, size) in self.blocks.iter_mut().zip(sizes) {
                    if let Some(size) = size {
                        *block = BlockSizes::One(values::block(size)?);
                    }
                }
            }
            "bsrange" | "blocksize_range" => {
                values::split_directions(text()?, &mut self.blocks, |part| {
                    values::range(part, kb)
                })?;
            }
            "bssplit" => {
                values::split_directions(text()?, &mut self.blocks, |part| {
                    values::split(part, kb)
                })?;
            }
            "ba" | "blockalign" => {
                let sizes =
                    values::by_direction(text()?, |part| values::block(units::bytes(part, kb)?))?;
                for (align, size) in self.align_bytes.iter_mut().zip(sizes) {
                    *align = size.or(*align);
                }
            }
            "rwmixread" => self.read_percent = self.whole_percent(&key, text()?)?,
            "rwmixwrite" => self.read_percent = 100 - self.whole_percent(&key, text()?)?,
            "percentage_random" => {
                let text = text()?;
                let percents = values::by_direction(text, units::percent)?;
                self.say_cut(&key, text, percents.into_iter().flatten());
                for (mine, percent) in self.random_percent.iter_mut().zip(percents) {
                    *mine = percent.map_or(*mine, |percent| percent as u8);
                }
            }
            "random_distribution" => self.distribution = values::distribution(text()?)?,
            "random_sequence_stride" => self.sequence_strides = flag()?,
            "latency_target" => self.latency.target = units::time(text()?, MICROSECOND)?,
            "latency_window" => self.latency.window = units::time(text()?, MICROSECOND)?,
            "latency_percentile" => self.latency.percent = units::percent(text()?)?,
            "latency_run" => self.latency.goes_on = flag()?,
            "norandommap" => self.no_map = flag()?,
            "softrandommap" => {
                flag()?;
            }
            "randrepeat" | "allrandrepeat" => self.randrepeat = flag()?,
            "randseed" => {
                // The one number that may take all 64 bits.
                let text = text()?;
                self.randseed = Some(text.parse().or_else(|_| units::count(text))?);
            }
            "size" => self.size = Some(units::size(text()?, kb)?),
            "io_size" | "io_limit" => self.io_size = Some(units::size(text()?, kb)?),
            "fill_device" | "fill_fs" => {
                if flag()? {
                    self.size = None;
                }
            }
            "offset" | "fileoffset" => self.offset = units::size(text()?, kb)?,
            "offset_increment" => self.offset_increment = units::size(text()?, kb)?,
            "offset_align" => self.offset_align = units::bytes(text()?, kb)?,
            "number_ios" => self.ios = Some(units::count(text()?)?).filter(|&ios| ios > 0),
            "iodepth" => self.depth = values::at_least_one(text()?)?,
            "iodepth_low" => self.depth_low = units::count(text()?)?,
            "numjobs" => self.jobs = values::at_least_one(text()?)?,
            "loops" => self.loops = u64::from(values::at_least_one(text()?)?),
            "runtime" | "timeout" => {
                self.runtime =
                    Some(units::time(text()?, SECOND)?).filter(|&time| time > Nanos::ZERO);
            }
            "time_based" => self.time_based = flag()?,
            "ramp_time" => self.ramp = units::time(text()?, SECOND)?,
            "startdelay" => self.delay = values::delay(text()?)?,
            "stonewall" | "wait_for_previous" => self.stonewall = flag()?,
            "new_group" => self.new_group = flag()?,
            "wait_for" => self.wait_for = Some(text()?.into()),
            "exitall" => self.exitall = flag()?,
            "exit_what" => {
                self.exit_what = match text()? {
                    "group" => TakesAlong::Group,
                    "stonewall" => TakesAlong::Wave,
                    "all" => TakesAlong::All,
                    other => {
                        return Err(ValueError::NoneOf {
                            text: other.into(),
                            choices: "group, stonewall and all",
                        });
                    }
                };
            }
            "rate" => self.rates(direction_sizes(text()?)?, Rate::Bytes),
            "rate_iops" => {
                self.rates(values::by_direction(text()?, units::count)?, Rate::Ios);
            }
            "rate_process" => {
                self.poisson = match text()? {
                    "linear" => false,
                    "poisson" => true,
                    other => {
                        return Err(ValueError::Neither {
                            text: other.into(),
                            choices: ["linear", "poisson"],
                        });
                    }
                };
            }
            "thinktime" => self.think = units::time(text()?, MICROSECOND)?,
            "thinktime_spin" => {
                units::time(text()?, MICROSECOND)?;
            }
            "thinktime_blocks" | "thinkcycles" => {
                self.think_every = u64::from(values::at_least_one(text()?)?);
            }
            "fsync" | "fdatasync" => self.flush_every = units::count(text()?)?,
            "end_fsync" | "fsync_on_close" => self.flush_at_end = flag()?,
            "sync" => {
                self.fua = match value {
                    Some("none") => false,
                    Some("sync" | "dsync") => true,
                    _ => flag()?,
                };
            }
            "zero_buffers" => self.zero_buffers = flag()?,
            "refill_buffers" => {
                flag()?;
            }
            "buffer_pattern" => {
                text()?;
                self.pattern = true;
            }
            "buffer_compress_percentage" => {
                self.compress_percent = self.whole_percent(&key, text()?)?;
            }
            "dedupe_percentage" => self.dedupe_percent = self.whole_percent(&key, text()?)?,
            "direct" => self.buffered = !flag()?,
            "buffered" => self.buffered = flag()?,
            "verify" => self.verify.kind = Kind::named(text()?)?,
            "do_verify" => self.verify.after = flag()?,
            "verify_only" => self.verify.only = flag()?,
            "verify_fatal" => self.verify.fatal = flag()?,
            "verify_interval" => {
                let bytes = values::block(units::bytes(text()?, kb)?)?;
                self.verify.block_bytes = Some(bytes);
            }
            "read_iolog" => {
                self.replay.paths = text()?.split(':').map(PathBuf::from).collect();
            }
            "replay_no_stall" => self.replay.no_stall = flag()?,
            "replay_time_scale" => {
                self.replay.time_scale = u64::from(values::at_least_one(text()?)?);
            }
            "replay_scale" => self.replay.scale = u64::from(values::at_least_one(text()?)?),
            "replay_align" => self.replay.align = u64::from(values::at_least_one(text()?)?),
            "hipri" => self.ways.polled = flag()?,
            "sqthread_poll" => self.ways.submission_thread = flag()?,
            "sqthread_poll_cpu" => {
                self.ways.submission_cpu = Some(ways::cpu_list(text()?)?[0]);
            }
            "cpus_allowed" => self.ways.cpus = ways::cpu_list(text()?)?,
            "cpumask" => self.ways.cpus = ways::cpu_mask(units::count(text()?)?)?,
            "numa_cpu_nodes" => self.ways.cpus = ways::node_cpus(text()?)?,
            "group_reporting" => self.group_reporting = flag()?,
            "stats" => self.stats = flag()?,
            "percentile_list" => self.percentiles = values::percentiles(text()?)?,
            "clat_percentiles" => self.completion_percentiles = flag()?,
            "lat_percentiles" => self.total_percentiles = flag()?,
            "slat_percentiles" => {
                flag()?;
            }
            "write_bw_log" => self.logs.bw = Some(value.unwrap_or_default().into()),
            "write_iops_log" => self.logs.iops = Some(value.unwrap_or_default().into()),
            "write_lat_log" => self.logs.lat = Some(value.unwrap_or_default().into()),
            "log_avg_msec" => self.log_window = units::time(text()?, Nanos(1_000_000))?,
            "log_max_value" => self.log_longest = flag()?,
            "log_window_value" => {
                self.log_longest = match text()? {
                    "avg" => false,
                    "max" | "both" => true,
                    other => {
                        return Err(ValueError::NoneOf {
                            text: other.into(),
                            choices: "avg, max and both",
                        });
                    }
                };
            }
            "log_offset" => self.log_offset = flag()?,
            "per_job_logs" => self.log_per_job = flag()?,
            "steadystate" | "ss" => self.steady.criterion = Some(values::criterion(text()?)?),
            "steadystate_duration" | "ss_dur" => self.steady.window = units::time(text()?, SECOND)?,
            "steadystate_ramp_time" | "ss_ramp" => self.steady.ramp = units::time(text()?, SECOND)?,
            "steadystate_check_interval" | "ss_interval" => {
                self.steady.interval = units::time(text()?, SECOND)?.max(Nanos(1_000_000));
            }
            "continue_on_error" => self.survives_errors = text()? != "none",
            "flow" => self.flow = Some(values::at_least_one(text()?)?),
            "flow_id" => self.flow_id = units::count(text()?)? as u32,
            "zonemode" => {
                self.strided = match text()? {
                    "none" => false,
                    "strided" => true,
                    "zbd" => {
                        return Err(ValueError::Unsupported(
                            "zoned block devices are not modelled yet",
                        ));
                    }
                    other => {
                        return Err(ValueError::NoneOf {
                            text: other.into(),
                            choices: "none, strided and zbd",
                        });
                    }
                };
            }
            "zonesize" => self.zone_bytes = units::bytes(text()?, kb)?,
            "zonerange" => self.zone_range_bytes = units::bytes(text()?, kb)?,
            "zoneskip" => self.zone_skip_bytes = units::bytes(text()?, kb)?,
            _ => return self.untyped(&key, value),
        }
        Ok(())
    }

    fn untyped(&mut self, key: &str, value: Option<&str>) -> Result<(), ValueError> {
        match known::option(key) {
            Known::Silent => Ok(()),
            Known::NoEffect => {
                // An option alone is switched on.
                let value = value.map_or("1", str::trim);
                if !known::is_default(key, value) {
                    self.say_without_effect(match value {
                        "0" => format!("{key}=0"),
                        _ => key.into(),
                    });
                }
                Ok(())
            }
            Known::Refused(why) => Err(ValueError::Unsupported(why)),
            Known::RefusedOn(why) => match values::flag(value)? {
                true => Err(ValueError::Unsupported(why)),
                false => Ok(()),
            },
            Known::Unknown => {
                let names = TYPED.iter().copied().chain(known::names());
                Err(ValueError::UnknownOption { near: nearest(key, names) })
            }
        }
    }

    /// A percentage that has no fraction in fio, which reads it up to the point.
    fn whole_percent(&mut self, key: &str, text: &str) -> Result<u8, ValueError> {
        let percent = units::percent(text)?;
        self.say_cut(key, text, [percent]);
        Ok(percent as u8)
    }

    /// fio cuts 33.9 to 33 without a word, and so the figures are those of 33; here it is said.
    fn say_cut(&mut self, key: &str, text: &str, percents: impl IntoIterator<Item = f64>) {
        if percents.into_iter().any(|percent| percent.fract() > 0.0) {
            self.say_without_effect(format!("the fraction in {key}={text}"));
        }
    }

    fn say_without_effect(&mut self, what: String) {
        if !self.without_effect.contains(&what) {
            self.without_effect.push(what);
        }
    }

    fn engine(&mut self, name: &str) -> Result<(), ValueError> {
        self.synchronous = match known::engine(name) {
            Engine::Synchronous => true,
            Engine::Asynchronous => false,
            Engine::OtherDoor { synchronous } => {
                self.without_effect.push(format!("ioengine={name}"));
                synchronous
            }
            Engine::Refused(why) => return Err(ValueError::NoBlockIo { name: name.into(), why }),
            Engine::Unknown => {
                let near = nearest(name, known::engines());
                return Err(ValueError::UnknownEngine { name: name.into(), near });
            }
        };
        self.engine = name.into();
        Ok(())
    }

    fn rates(&mut self, rates: [Option<u64>; 3], unit: fn(u64) -> Rate) {
        for (mine, rate) in self.rates.iter_mut().zip(rates) {
            if let Some(rate) = rate {
                *mine = (rate > 0).then(|| unit(rate));
            }
        }
    }
}
