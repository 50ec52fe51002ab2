//! Links as times: how long a command's frames and data take to cross SATA or PCIe, and whom they
//! hold up there.
//!
//! A SATA link is one lane: one direction carries data at a time. A PCIe link has a lane each way,
//! so that reads and writes do not meet there. With a host controller in front of a SATA link, data
//! crosses its link to the computer, too, as it arrives: the slower of both sets the pace.
//!
//! Left out of PCIe: the requests for data that a drive sends the other way (24 bytes for each 512
//! read from the host's memory), and the latency of the fabric, which is the host's cost.

use crate::Nanos;
use crate::config::{LinkSection, PcieLinkSection, SataLinkSection};
use crate::lane::Lane;

/// Payload of one SATA data frame, bytes (Serial ATA specification, data FIS).
const FRAME_BYTES: u64 = 8192;

/// Framing, sequence number, header of four words and CRC of a transaction layer packet, bytes
/// (PCI Express Base Specification).
const PACKET_HEADER_BYTES: u64 = 24;

/// A command on its way to an NVMe drive: the submission queue entry of 64 bytes, and the writes
/// of 4 bytes to the doorbells of both its queues (NVM Express Base Specification).
const REQUEST_BYTES: u64 = 64 + 2 * 4 + 3 * PACKET_HEADER_BYTES;

/// Its answer: the completion queue entry of 16 bytes and the MSI-X message of 4.
const STATUS_BYTES: u64 = 16 + 4 + 2 * PACKET_HEADER_BYTES;

/// One direction of a link, as a speed.
#[derive(Clone, Copy, Debug)]
struct Wire {
    bytes_per_second: f64,
    /// Data of a packet is at most 1 << this.
    packet_shift: u32,
    /// Bytes each packet adds.
    header_bytes: u64,
    /// Time each packet adds.
    turnaround: Nanos,
}

impl Wire {
    fn sata(section: &SataLinkSection) -> Wire {
        Wire {
            // 8b/10b coding sends ten bits for eight.
            bytes_per_second: section.gbps * 1e9 / 10.0,
            packet_shift: FRAME_BYTES.trailing_zeros(),
            header_bytes: 0,
            turnaround: Nanos::from_micros(section.frame_us),
        }
    }

    fn pcie(section: &PcieLinkSection) -> Wire {
        Wire {
            bytes_per_second: section.bytes_per_second(),
            packet_shift: section.max_payload_bytes.trailing_zeros(),
            header_bytes: PACKET_HEADER_BYTES,
            turnaround: Nanos::ZERO,
        }
    }

    /// The time `bytes` of data take.
    #[inline]
    fn data(&self, bytes: u64) -> Nanos {
        let packets = (bytes + (1 << self.packet_shift) - 1) >> self.packet_shift;
        let on_wire = self.on_wire(bytes + packets * self.header_bytes);
        on_wire + Nanos(self.turnaround.0 * packets)
    }

    /// The time so many bytes take, headers included.
    #[inline]
    fn on_wire(&self, bytes: u64) -> Nanos {
        Nanos((bytes as f64 * 1e9 / self.bytes_per_second).round() as u64)
    }
}

/// A link and until when it is taken.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    wire: Wire,
    upstream: Option<Wire>,
    /// PCIe: a command on its way to the drive.
    request: Option<Nanos>,
    /// SATA: all of a command's own frames. PCIe: its answer.
    status: Nanos,
    /// Towards the drive and towards the host; SATA uses the first for both.
    lanes: [Lane; 2],
    to_host: usize,
    /// The bytes whose time was asked for last, and that time: it takes a division, and most
    /// commands are as long as the one before.
    last: (u64, Nanos),
}

const TO_DRIVE: usize = 0;

impl Link {
    /// The link of a checked section, behind a host controller if there is one.
    pub(crate) fn new(section: &LinkSection, upstream: Option<&PcieLinkSection>) -> Link {
        match section {
            LinkSection::Sata(sata) => Link::sata(sata, upstream),
            LinkSection::Pcie(pcie) => Link::pcie(pcie),
        }
    }

    /// A SATA link.
    pub(crate) fn sata(section: &SataLinkSection, upstream: Option<&PcieLinkSection>) -> Link {
        Link {
            wire: Wire::sata(section),
            upstream: upstream.map(Wire::pcie),
            request: None,
            status: Nanos::from_micros(section.command_us),
            lanes: [Lane::default(); 2],
            to_host: TO_DRIVE,
            last: (0, Nanos::ZERO),
        }
    }

    fn pcie(section: &PcieLinkSection) -> Link {
        let wire = Wire::pcie(section);
        Link {
            wire,
            upstream: None,
            request: Some(wire.on_wire(REQUEST_BYTES)),
            status: wire.on_wire(STATUS_BYTES),
            lanes: [Lane::default(); 2],
            to_host: 1,
            last: (0, Nanos::ZERO),
        }
    }

    /// Until when it is taken, in both directions: all that a link remembers.
    pub(crate) fn lanes(&self) -> [Lane; 2] {
        self.lanes
    }

    /// The same link, taken until then.
    pub(crate) fn with_lanes(self, lanes: [Lane; 2]) -> Link {
        Link { lanes, ..self }
    }

    /// Whether it is PCIe, with NVMe on it.
    pub(crate) fn is_pcie(&self) -> bool {
        self.request.is_some()
    }

    /// The time a command's own frames take on SATA, and its answer on PCIe.
    #[inline]
    pub(crate) fn command(&self) -> Nanos {
        self.status
    }

    /// The time `bytes` of data take, without the command's own frames.
    #[inline]
    pub(crate) fn data(&mut self, bytes: u64) -> Nanos {
        if self.last.0 != bytes {
            let time = self.wire.data(bytes);
            let upstream = self.upstream.map_or(Nanos::ZERO, |wire| wire.data(bytes));
            self.last = (bytes, time.max(upstream));
        }
        self.last.1
    }

    /// When a command the host sends at `at` is in the drive. On SATA that takes no time here:
    /// all of a command's frames are charged with its data.
    #[inline]
    pub(crate) fn request(&mut self, at: Nanos) -> Nanos {
        match self.request {
            None => at,
            Some(request) => self.lanes[TO_DRIVE].serve(at, request),
        }
    }

    /// When `bytes` of a write issued at `at`, which the drive can take from `ready` on, are in it.
    #[inline]
    pub(crate) fn receive(&mut self, at: Nanos, ready: Nanos, bytes: u64) -> Nanos {
        let transfer = self.frames() + self.data(bytes);
        self.receive_for(at, ready, transfer)
    }

    /// The same of data that take so long with the command's own frames.
    #[inline(always)]
    pub(crate) fn receive_for(&mut self, at: Nanos, ready: Nanos, transfer: Nanos) -> Nanos {
        self.lanes[TO_DRIVE].serve_when_ready(at, ready, transfer)
    }

    /// The time the frames of a write take besides its data.
    #[inline]
    pub(crate) fn frames(&self) -> Nanos {
        if self.is_pcie() { Nanos::ZERO } else { self.status }
    }

    /// Takes the link for `bytes` of a read issued at `at` and its answer. Returns when they can
    /// begin to cross, not before `ready`.
    #[inline]
    pub(crate) fn send(&mut self, at: Nanos, ready: Nanos, bytes: u64) -> Nanos {
        let transfer = self.status + self.data(bytes);
        self.send_for(at, ready, transfer)
    }

    /// The same of data that take so long with the command's own frames, or its answer.
    #[inline(always)]
    pub(crate) fn send_for(&mut self, at: Nanos, ready: Nanos, transfer: Nanos) -> Nanos {
        let lane = &mut self.lanes[self.to_host];
        let begin = lane.backlog_ends(at).max(ready);
        lane.serve(at, transfer);
        begin
    }

    /// When the host has the answer to a write that is `ready` to be answered. On SATA that is in
    /// what its data were charged.
    #[inline]
    pub(crate) fn confirm(&mut self, at: Nanos, ready: Nanos) -> Nanos {
        match self.is_pcie() {
            false => ready,
            true => self.answer(at, ready),
        }
    }

    /// When the host has the answer to a command without data that is done at `ready`.
    #[inline]
    pub(crate) fn answer(&mut self, at: Nanos, ready: Nanos) -> Nanos {
        self.lanes[self.to_host].serve_when_ready(at, ready, self.status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sata(gbps: f64, frame_us: f64) -> SataLinkSection {
        SataLinkSection { gbps, command_us: 0.0, frame_us }
    }

    fn pcie(generation: u32, lanes: u32, max_payload_bytes: u32) -> PcieLinkSection {
        PcieLinkSection { generation, lanes, max_payload_bytes, dllp_percent: None }
    }

    fn mb_per_s(mut link: Link, bytes: u64) -> f64 {
        bytes as f64 * 1e3 / link.data(bytes).0 as f64
    }

    #[test]
    fn sata_6_with_a_frame_cost_of_0_98_us_moves_560_mb_per_s() {
        // shared figure: t_fis of about 0.98 us calibrates a 6 Gb/s link to its practical 560 MB/s.
        let speed = mb_per_s(Link::sata(&sata(6.0, 0.98), None), 131_072);
        assert!((speed - 560.0).abs() < 1.0, "{speed}");
    }

    #[test]
    fn a_pcie_lane_carries_what_its_generation_and_coding_say() {
        for (generation, expected) in [(1, 250.0), (2, 500.0), (3, 984.6), (4, 1969.2), (5, 3938.5)]
        {
            let speed = pcie(generation, 1, 128).bytes_per_second() / 1e6;
            assert!((speed - expected).abs() < 0.05, "generation {generation}: {speed}");
        }
    }

    #[test]
    fn packets_cost_24_bytes_each() {
        // x4 of generation 3: 3938.5 MB/s x payload / (payload + 24).
        for (payload, expected) in [(128, 3317.0), (256, 3601.0), (512, 3762.0)] {
            let speed = mb_per_s(Link::pcie(&pcie(3, 4, payload)), 1 << 30);
            assert!((speed - expected).abs() < 1.0, "payload {payload}: {speed}");
        }
        // A packet begun is a packet: 129 bytes are two.
        let mut link = Link::pcie(&pcie(2, 1, 128));
        assert_eq!(link.data(128), Nanos(304));
        assert_eq!(link.data(129), Nanos(354));
    }

    #[test]
    fn acknowledgements_take_their_share() {
        let section = PcieLinkSection { dllp_percent: Some(4.0), ..pcie(3, 4, 128) };
        let speed = mb_per_s(Link::pcie(&section), 1 << 30);
        assert!((speed - 3317.0 * 0.96).abs() < 1.0, "{speed}");
    }

    #[test]
    fn a_command_is_its_entries_doorbells_and_interrupt() {
        // 500 MB/s, 2 ns a byte: 64 + 2 x 4 and three packets there, 16 + 4 and two back.
        let mut link = Link::pcie(&pcie(2, 1, 128));
        assert_eq!(link.request(Nanos(1000)), Nanos(1000 + 2 * 144));
        assert_eq!(link.command(), Nanos(2 * 68));
        assert_eq!(link.answer(Nanos(0), Nanos(5000)), Nanos(5000 + 2 * 68));
    }

    #[test]
    fn pcie_has_a_direction_for_each_and_sata_one_for_both() {
        let transfers = |mut link: Link| {
            let written = link.receive(Nanos(0), Nanos(0), 65_536);
            let begin = link.send(Nanos(0), Nanos(0), 65_536);
            (written, begin)
        };
        let time = Link::pcie(&pcie(3, 1, 128)).data(65_536);
        assert_eq!(transfers(Link::pcie(&pcie(3, 1, 128))), (time, Nanos(0)));
        let time = Link::sata(&sata(6.0, 0.0), None).data(65_536);
        assert_eq!(transfers(Link::sata(&sata(6.0, 0.0), None)), (time, time));
    }

    #[test]
    fn behind_a_host_controller_the_slower_link_sets_the_pace() {
        // One lane of generation 2 with 128 bytes a packet: 500 x 128 / 152 = 421 MB/s.
        let behind = |gbps, upstream: &PcieLinkSection| {
            mb_per_s(Link::sata(&sata(gbps, 0.98), Some(upstream)), 131_072)
        };
        assert!((behind(6.0, &pcie(2, 1, 128)) - 421.05).abs() < 0.1);
        assert!((behind(6.0, &pcie(2, 4, 128)) - 560.0).abs() < 1.0);
        assert!((behind(3.0, &pcie(2, 1, 128)) - 289.6).abs() < 1.0);
    }

    #[test]
    fn a_size_takes_the_same_whichever_was_asked_for_before() {
        for mut link in [
            Link::sata(&sata(3.0, 0.98), None),
            Link::sata(&sata(6.0, 0.98), Some(&pcie(2, 1, 128))),
            Link::pcie(&pcie(4, 2, 256)),
        ] {
            for bytes in [0, 4096, 4096, 512, 0, 131_072, 4096, u64::from(u32::MAX) * 512] {
                let anew = Link { last: (0, Nanos::ZERO), ..link.clone() }.data(bytes);
                assert_eq!(link.data(bytes), anew, "{bytes} bytes");
            }
        }
    }
}
