//! Writers of formats that fourcorners reads only, to be read back.

use std::fmt::Write;

use fourcorners_drive::Op;
use fourcorners_trace::TraceIo;

/// blktrace, little-endian or big-endian; I/Os with a duration are completed.
pub(crate) fn blktrace(ios: &[TraceIo], big: bool) -> Vec<u8> {
    let mut events: Vec<(u64, u32, &TraceIo)> = Vec::new();
    for io in ios {
        events.push((io.at.0, 7 | 1 << 22, io));
        if let Some(duration) = io.duration {
            events.push((io.at.0 + duration.0, 8 | 1 << 23, io));
        }
    }
    events.sort_by_key(|&(at, action, _)| (at, action & 0xff));
    let mut bytes = Vec::new();
    for (number, (at, action, io)) in events.into_iter().enumerate() {
        let category = match io.op {
            Op::Read => 1 << 16,
            Op::Write => 1 << 17,
            Op::Flush => 1 << 18,
            Op::Trim => 1 << 17 | 1 << 29,
        };
        // Every fifth event has something to say.
        let note = if number % 5 == 0 { 12u16 } else { 0 };
        let mut half = |value: u32| {
            bytes.extend(if big { value.to_be_bytes() } else { value.to_le_bytes() });
        };
        half(0x6561_7407);
        half(number as u32);
        let mut whole = |value: u64| {
            bytes.extend(if big { value.to_be_bytes() } else { value.to_le_bytes() });
        };
        whole(at + 77);
        whole(io.offset_bytes / 512);
        let mut half = |value: u32| {
            bytes.extend(if big { value.to_be_bytes() } else { value.to_le_bytes() });
        };
        half(io.bytes as u32);
        half(action | category);
        half(4711);
        half(io.device);
        half(0);
        bytes.extend([0, 0]);
        bytes.extend(if big { note.to_be_bytes() } else { note.to_le_bytes() });
        bytes.extend(std::iter::repeat_n(0xaa, usize::from(note)));
    }
    bytes
}

/// blkparse's text; I/Os with a duration are completed.
pub(crate) fn blkparse(ios: &[TraceIo]) -> Vec<u8> {
    let mut events: Vec<(u64, char, &TraceIo)> = Vec::new();
    for io in ios {
        events.push((io.at.0, 'Q', io));
        events.push((io.at.0, 'D', io));
        if let Some(duration) = io.duration {
            events.push((io.at.0 + duration.0, 'C', io));
        }
    }
    events.sort_by_key(|&(at, action, _)| (at, action == 'C'));
    let mut text = String::new();
    for (number, (at, action, io)) in events.into_iter().enumerate() {
        let (seconds, ns) = (at / 1_000_000_000, at % 1_000_000_000);
        let (major, minor) = (io.device >> 20, io.device & 0xf_ffff);
        let (sector, sectors) = (io.offset_bytes / 512, io.bytes / 512);
        let letters = ["RA", "WS", "DS", "FN"][io.op as usize];
        let head =
            format!("{major:3},{minor:<3} 1 {number:8} {seconds:5}.{ns:09} 4711 {action:>2}");
        let _ = match io.op {
            Op::Flush => writeln!(text, "{head} {letters} [swapper]"),
            _ => writeln!(text, "{head} {letters:>3} {sector} + {sectors} [fio]"),
        };
    }
    text += "  8,0    1      999     9.000000000  1234  m   N cfq4711 a message\n";
    text += "CPU1 (sda):\n Reads Queued:           2,       16KiB\nTotal (sda):\n 1 2 3\n";
    text.into_bytes()
}

/// fio's log, version 2: times are what was waited.
pub(crate) fn iolog2(ios: &[TraceIo]) -> Vec<u8> {
    let mut text = String::from("fio version 2 iolog\n/dev/sda add\n/dev/sda open\n");
    let mut last = 0;
    for io in ios {
        let at = io.at.0 / 1000;
        let _ = writeln!(text, "/dev/sda wait {} 0", at - last);
        last = at;
        let _ = writeln!(text, "/dev/sda {} {} {}", name(io.op), io.offset_bytes, io.bytes);
    }
    (text + "/dev/sda close\n").into_bytes()
}

pub(crate) fn msr(ios: &[TraceIo]) -> Vec<u8> {
    let mut text = String::new();
    for io in ios {
        let time = 128_166_372_003_061_629 + io.at.0 / 100;
        let kind = if io.op == Op::Read { "Read" } else { "Write" };
        let response = io.duration.map_or(0, |duration| duration.0 / 100);
        let (device, offset, bytes) = (io.device, io.offset_bytes, io.bytes);
        let _ = writeln!(text, "{time},hm,{device},{kind},{offset},{bytes},{response}");
    }
    text.into_bytes()
}

/// In the formats whose columns have an order of their own: SPC, Alibaba's, Tencent's and Systor's.
pub(crate) fn columns(ios: &[TraceIo]) -> [Vec<u8>; 4] {
    let seconds = |ns: u64| format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    let mut all = [const { String::new() }; 4];
    all[1] += "device_id,opcode,offset,length,timestamp\n";
    all[3] += "Timestamp,Response,IOType,LUN,Offset,Size\n";
    for io in ios {
        let (device, offset, bytes, at) = (io.device, io.offset_bytes, io.bytes, io.at.0);
        let (letter, bit) = if io.op == Op::Read { ("R", 0) } else { ("W", 1) };
        let (sector, sectors) = (offset / 512, bytes / 512);
        let took = io.duration.map_or(String::new(), |took| seconds(took.0));
        let lines = [
            format!("{device},{sector},{bytes},{letter},{}", seconds(at)),
            format!("{device},{letter},{offset},{bytes},{}", 1_577_808_000_000_000 + at / 1000),
            format!("{},{sector},{sectors},{bit},{device}", 1_538_323_200 + at / 1_000_000_000),
            format!("{},{took},{letter},{device},{offset},{bytes}", seconds(at)),
        ];
        for (text, line) in all.iter_mut().zip(lines) {
            let _ = writeln!(text, "{line}");
        }
    }
    all.map(String::into_bytes)
}

pub(crate) fn blkreplay(ios: &[TraceIo]) -> Vec<u8> {
    let mut text = String::from(
        "Some explanation; of whom\n\nstart ; sector; length ; op ;  replay_delay=0 ; \
         replay_duration=0\n",
    );
    let seconds = |ns: u64| format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    for io in ios {
        let (sector, sectors) = (io.offset_bytes / 512, io.bytes / 512);
        let op = if io.op == Op::Read { "R" } else { "W" };
        let (at, took) = (seconds(io.at.0), io.duration.map_or("0.0".into(), |it| seconds(it.0)));
        let _ = writeln!(text, "{at:>14} ; {sector:>12} ; {sectors:>4} ; {op} ; 0.0 ; {took}");
    }
    text.into_bytes()
}

pub(crate) fn vscsi(ios: &[TraceIo]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (number, io) in ios.iter().enumerate() {
        let command: u16 = match io.op {
            Op::Read => 0x28,
            Op::Write => 0x2a,
            _ => 0x35,
        };
        for half in [number as u32, io.bytes as u32, 1] {
            bytes.extend(half.to_le_bytes());
        }
        bytes.extend(command.to_le_bytes());
        bytes.extend(0x0100u16.to_le_bytes());
        bytes.extend((io.offset_bytes / 512).to_le_bytes());
        bytes.extend((5_600_000_000 + io.at.0 / 1000).to_le_bytes());
    }
    bytes
}

pub(crate) fn mqsim(ios: &[TraceIo]) -> Vec<u8> {
    let mut text = String::new();
    for io in ios {
        let (sector, sectors) = (io.offset_bytes / 512, io.bytes / 512);
        let kind = u8::from(io.op == Op::Read);
        let _ = writeln!(text, "{} {} {sector} {sectors} {kind}", io.at.0, io.device);
    }
    text.into_bytes()
}

fn name(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Trim => "trim",
        Op::Flush => "sync",
    }
}
