//! The health that smartctl prints as JSON (smartmontools 7.0 and later), of NVMe and of ATA drives.

use fourcorners_record::HealthReading;
use serde_json::Value;

/// A data unit of the NVMe health log: 1000 blocks of 512 bytes (NVMe base specification, SMART /
/// Health Information).
const NVME_UNIT_BYTES: u64 = 512_000;
const ATA_SECTOR_BYTES: u64 = 512;

/// Attributes of ATA drives on whose number and meaning their makers agree.
const REALLOCATED: u64 = 5;
const UNCORRECTABLE: u64 = 187;
const LINK_ERRORS: u64 = 199;

/// Statistics of ATA drives: page and offset (ACS-4, device statistics log).
const WRITTEN: (u64, u64) = (1, 24);
const READ: (u64, u64) = (1, 40);
const ENDURANCE: (u64, u64) = (7, 8);

/// What `smartctl --json -x DEVICE` says.
///
/// # Errors
/// Why it says nothing: it is no JSON of its form, or the drive could not be asked.
pub(super) fn parse(text: &str) -> Result<HealthReading, String> {
    let json: Value = serde_json::from_str(text)
        .map_err(|error| format!("smartctl did not print JSON ({error}); is it older than 7.0?"))?;
    let number = |path: &str| json.pointer(path).and_then(Value::as_u64);
    let float = |path: &str| json.pointer(path).and_then(Value::as_f64);
    // Bits 0 and 1: the command line was wrong, the device could not be opened (smartctl(8)).
    let status = number("/smartctl/exit_status").unwrap_or(0);
    if status & 0b11 != 0 {
        let messages = json.pointer("/smartctl/messages").and_then(Value::as_array);
        let first = messages.and_then(|all| all.first()?.get("string")?.as_str());
        let why: String = first.unwrap_or("it could not ask the drive").chars().take(200).collect();
        return Err(format!("smartctl: {why}"));
    }
    let nvme = |key: &str| number(&format!("/nvme_smart_health_information_log/{key}"));
    let attribute = |id: u64| {
        let table = json.pointer("/ata_smart_attributes/table")?.as_array()?;
        let of = |row: &&Value| row.get("id").and_then(Value::as_u64) == Some(id);
        table.iter().find(of)?.pointer("/raw/value")?.as_u64()
    };
    let statistic = |(page, offset): (u64, u64)| {
        let pages = json.pointer("/ata_device_statistics/pages")?.as_array()?;
        let is = |value: &Value, key: &str, wanted: u64| {
            value.get(key).and_then(Value::as_u64) == Some(wanted)
        };
        let page = pages.iter().find(|it| is(it, "number", page))?;
        let row = page.get("table")?.as_array()?.iter().find(|it| is(it, "offset", offset))?;
        row.get("value")?.as_u64()
    };
    let bytes = |units: Option<u64>, sectors: Option<u64>| {
        let nvme = units.and_then(|units| units.checked_mul(NVME_UNIT_BYTES));
        nvme.or(sectors.and_then(|sectors| sectors.checked_mul(ATA_SECTOR_BYTES)))
    };
    let reading = HealthReading {
        sources: vec!["smartctl".into()],
        not_available: Vec::new(),
        passed: json.pointer("/smart_status/passed").and_then(Value::as_bool),
        temperature_c: float("/temperature/current"),
        temperature_warning_c: float("/nvme_composite_temperature_threshold/warning"),
        warning_temperature_minutes: nvme("warning_temp_time"),
        critical_temperature_minutes: nvme("critical_comp_time"),
        over_temperature_count: number("/ata_sct_status/temperature/over_limit_count"),
        critical_warning: nvme("critical_warning"),
        endurance_used_percent: nvme("percentage_used")
            .or(statistic(ENDURANCE))
            .map(|percent| percent as f64),
        spare_percent: nvme("available_spare").map(|percent| percent as f64),
        media_errors: nvme("media_errors").or(attribute(UNCORRECTABLE)),
        reallocated: attribute(REALLOCATED),
        link_errors: attribute(LINK_ERRORS),
        host_written_bytes: bytes(nvme("data_units_written"), statistic(WRITTEN)),
        host_read_bytes: bytes(nvme("data_units_read"), statistic(READ)),
        power_on_hours: number("/power_on_time/hours"),
    };
    let nothing = HealthReading { sources: reading.sources.clone(), ..HealthReading::default() };
    if reading == nothing {
        return Err("smartctl: the drive tells no SMART data".into());
    }
    Ok(reading)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NVME: &str = r#"{"json_format_version":[1,0],"smartctl":{"version":[7,4],"exit_status":0},
        "device":{"name":"/dev/nvme0","type":"nvme","protocol":"NVMe"},
        "model_name":"A Drive","serial_number":"S1","firmware_version":"2B2QEXM7",
        "nvme_composite_temperature_threshold":{"warning":82,"critical":85},
        "smart_status":{"passed":true,"nvme":{"value":0}},
        "nvme_smart_health_information_log":{"critical_warning":0,"temperature":41,
            "available_spare":100,"available_spare_threshold":10,"percentage_used":3,
            "data_units_read":1000,"data_units_written":2000,"host_reads":1,"host_writes":2,
            "power_cycles":9,"power_on_hours":77,"unsafe_shutdowns":1,"media_errors":4,
            "num_err_log_entries":0,"warning_temp_time":5,"critical_comp_time":1},
        "temperature":{"current":41},"power_cycle_count":9,"power_on_time":{"hours":77}}"#;

    const ATA: &str = r#"{"smartctl":{"version":[7,2],"exit_status":64},
        "device":{"name":"/dev/sda","type":"sat","protocol":"ATA"},
        "smart_status":{"passed":false},
        "ata_smart_attributes":{"revision":16,"table":[
            {"id":5,"name":"Reallocated_Sector_Ct","value":99,"raw":{"value":8,"string":"8"}},
            {"id":187,"name":"Reported_Uncorrect","value":100,"raw":{"value":2,"string":"2"}},
            {"id":199,"name":"UDMA_CRC_Error_Count","value":100,"raw":{"value":6,"string":"6"}}]},
        "ata_device_statistics":{"pages":[
            {"number":1,"name":"General Statistics","table":[
                {"offset":8,"name":"Lifetime Power-On Resets","value":10},
                {"offset":24,"name":"Logical Sectors Written","value":1000000},
                {"offset":40,"name":"Logical Sectors Read","value":3000000}]},
            {"number":7,"name":"Solid State Device Statistics","table":[
                {"offset":8,"name":"Percentage Used Endurance Indicator","value":11}]}]},
        "ata_sct_status":{"temperature":{"current":35,"under_limit_count":0,"over_limit_count":3}},
        "temperature":{"current":35},"power_on_time":{"hours":20000}}"#;

    #[test]
    fn the_log_of_an_nvme_drive() {
        let read = parse(NVME).expect("it is as smartctl prints it");
        assert_eq!((read.passed, read.temperature_c), (Some(true), Some(41.0)));
        assert_eq!(read.temperature_warning_c, Some(82.0));
        assert_eq!(
            (read.warning_temperature_minutes, read.critical_temperature_minutes),
            (Some(5), Some(1))
        );
        assert_eq!((read.endurance_used_percent, read.spare_percent), (Some(3.0), Some(100.0)));
        assert_eq!((read.media_errors, read.reallocated), (Some(4), None));
        assert_eq!(read.host_written_bytes, Some(1_024_000_000));
        assert_eq!((read.host_read_bytes, read.power_on_hours), (Some(512_000_000), Some(77)));
    }

    #[test]
    fn attributes_and_statistics_of_an_ata_drive() {
        // Bit 6 of the exit status: there are errors in its log. It was asked all the same.
        let read = parse(ATA).expect("it is as smartctl prints it");
        assert_eq!((read.passed, read.temperature_c), (Some(false), Some(35.0)));
        assert_eq!(
            (read.reallocated, read.media_errors, read.link_errors),
            (Some(8), Some(2), Some(6))
        );
        assert_eq!(read.host_written_bytes, Some(512_000_000));
        assert_eq!(
            (read.endurance_used_percent, read.over_temperature_count),
            (Some(11.0), Some(3))
        );
    }

    #[test]
    fn what_says_nothing_says_why() {
        let refused =
            r#"{"smartctl":{"exit_status":2,"messages":[{"string":"Smartctl open device: \
            /dev/loop0 failed: Inappropriate ioctl","severity":"error"}]}}"#
                .replace("\\\n            ", "");
        for (text, told) in [
            ("", "did not print JSON"),
            ("smartctl 6.6", "is it older than 7.0?"),
            ("{}", "no SMART data"),
            ("[]", "no SMART data"),
            ("{\"temperature\":{\"current\":\"hot\"}}", "no SMART data"),
            (refused.as_str(), "Inappropriate ioctl"),
            ("{\"smartctl\":{\"exit_status\":1}}", "could not ask the drive"),
        ] {
            let why = parse(text).expect_err(text);
            assert!(why.contains(told), "{why}");
        }
        // Numbers that no drive has are no reason to fall over.
        let huge = NVME
            .replace("\"data_units_written\":2000", "\"data_units_written\":18446744073709551615");
        assert_eq!(parse(&huge).expect("the rest is good").host_written_bytes, None);
    }
}
