//! What a config is where nothing is said, and what makes it impossible.

use fourcorners_drive::config::*;
use fourcorners_drive::{Hdd, Io, Lba, Nanos, Ssd, Tag, Target};

/// Writes and reads the first 4 KiB: when each was answered.
fn write_and_read(drive: &mut impl Target) -> [Nanos; 2] {
    [Io::write(Lba(0), 8), Io::read(Lba(0), 8)].map(|io| {
        drive.submit(Tag(0), io);
        drive.reap(Nanos::MAX).expect("no fault").expect("one is in flight").at
    })
}

#[test]
fn the_default_drives_work() {
    let mut ssd = Ssd::new(&SsdConfig::default()).expect("an SSD");
    let mut hdd = Hdd::new(&HddConfig::default()).expect("a hard disk");
    assert_eq!(ssd.geometry().bytes(), 999_997_440);
    assert_eq!(hdd.geometry().bytes(), 500_107_862_016);
    for [written, read] in [write_and_read(&mut ssd), write_and_read(&mut hdd)] {
        assert!(Nanos::ZERO < written && written < read, "{written}, {read}");
    }
}

/// A mechanism of an SSD, switched on as it is by default.
type SwitchOn = fn(&mut SsdConfig);

const MECHANISMS: [(&str, SwitchOn); 14] = [
    ("upstream", |config| config.upstream = Some(PcieLinkSection::default())),
    ("nand_cells", |config| config.nand_cells = Some(NandCellsSection::default())),
    ("nand_suspend", |config| config.nand_suspend = Some(NandSuspendSection::default())),
    ("map", |config| config.map = Some(MapSection::default())),
    ("log_blocks", |config| config.log_blocks = Some(LogBlocksSection::default())),
    ("streams", |config| config.streams = Some(StreamsSection::default())),
    ("slc_buffer", |config| config.slc_buffer = Some(SlcBufferSection::default())),
    ("compression", |config| config.compression = Some(CompressionSection::default())),
    ("checkpoint", |config| config.checkpoint = Some(CheckpointSection::default())),
    ("write_limit", |config| config.write_limit = Some(WriteLimitSection::default())),
    ("wear", |config| config.wear = Some(WearSection::default())),
    ("flash", |config| config.flash = Some(FlashSection::default())),
    ("power", |config| config.power = Some(PowerSection::default())),
    ("heat", |config| {
        config.power = Some(PowerSection::default());
        config.heat = Some(HeatSection::default());
    }),
];

#[test]
fn every_mechanism_has_a_default_that_makes_a_drive() {
    for (name, switch_on) in MECHANISMS {
        let mut config = SsdConfig::default();
        switch_on(&mut config);
        assert_ne!(config, SsdConfig::default(), "{name}");
        let mut drive = Ssd::new(&config).unwrap_or_else(|error| panic!("{name}: {error}"));
        let [written, read] = write_and_read(&mut drive);
        assert!(written < read, "{name}: {written}, {read}");
    }
    let mut config = HddConfig { power: Some(HddPowerSection::default()), ..HddConfig::default() };
    config.upstream = Some(PcieLinkSection::default());
    Hdd::new(&config).expect("a hard disk");
}

#[test]
fn two_that_exclude_each_other_are_refused_by_name() {
    let config = SsdConfig {
        log_blocks: Some(LogBlocksSection::default()),
        wear: Some(WearSection::default()),
        ..SsdConfig::default()
    };
    let error = Ssd::new(&config).expect_err("blocks of a log-block map do not wear out");
    assert_eq!((error.key.as_str(), error.value.as_str()), ("wear.endurance_cycles", "3000"));
}

#[test]
fn a_config_is_plain_data() {
    for (name, switch_on) in MECHANISMS {
        let mut config = SsdConfig::default();
        switch_on(&mut config);
        let text = toml::to_string(&config).expect("a config is TOML");
        assert!(text.contains("dies = 8\n") && text.contains(&format!("[{name}]\n")), "{text}");
        assert_eq!(toml::from_str(&text), Ok(config));
    }
}
