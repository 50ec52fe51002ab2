# What each kind of drive is taken for: by doctor, by a review, and by the tools that tell its health.
. /with/in-guest/check.sh
sata=$(sata) virtio=$(disk virtio)
for disk in /dev/nvme?n? /dev/sd? /dev/vd?; do fill "$disk"; done

# least WHAT PATTERN TARGET: the least review of it ends well, and its record says this.
least() { expect "$1" 0 "$2" review "$3" --destroy "$3" --methods $here/write.toml --json; }

# Whether the bytes that the drive says it was written are at least those of the last record.
grown() {
  local units='"host_written_bytes":\([0-9]*\)'
  printf '%s' "$said" | sed "s/.*\"before\":{[^}]*$units[^}]*}.*\"after\":{[^}]*$units.*/\\1 \\2/" | { read -r before after; [ "$after" -gt "$before" ]; }
}

on 'NVMe, 512-byte blocks'
nvme=$(disk nvme)
expect 'doctor knows it' 0 'QEMU NVMe Ctrl, serial nvme' fourcorners doctor --json "$nvme"
least 'health before and after, by smartctl' '"before":\{"sources":\[[^]]*"smartctl".*"after":\{"sources":\[[^]]*"smartctl"' "$nvme"
holds 'what it says it was written grew by what was written' grown
mkdir -p /tmp/tools
printf '#!/bin/sh\necho Segmentation fault >&2\nexit 139\n' >/tmp/tools/smartctl; chmod +x /tmp/tools/smartctl
mv /usr/sbin/smartctl /usr/sbin/away
least 'smartctl is not installed' 'smartctl is not installed' "$nvme"
mv /usr/sbin/away /usr/sbin/smartctl
PATH=/tmp/tools:$PATH least 'smartctl answers nonsense' 'smartctl.*did not print JSON' "$nvme"

on 'NVMe, 4Kn'
four=$(disk nvme-4k)
expect 'doctor knows it' 0 'serial nvme-4k' fourcorners doctor --json "$four"
least 'its logical blocks are of 4096 bytes' '"logical_block_bytes":4096' "$four"
printf '[r]\nrw=randread\nbs=512\nruntime=1\ntime_based=1\n' >/tmp/small.fio
expect 'I/Os of 512 bytes are refused' 1 'multiples of the target.s logical block, 4096 bytes' fourcorners run /tmp/small.fio "$four"

on 'SCSI (virtio-scsi), 4Kn'
least 'its logical blocks are of 4096 bytes' '"logical_block_bytes":4096' "$(virtio_scsi)"

on 'SATA (AHCI), 512e'
expect 'doctor knows it' 0 'QEMU HARDDISK, serial ahci' fourcorners doctor --json "$sata"
least 'its logical blocks are of 512 bytes' '"logical_block_bytes":512' "$sata"
least 'health before and after, by smartctl' '"after":\{"sources":\["smartctl"\],"passed":true' "$sata"
expect 'I/Os of 512 bytes are done: the control' 0 'read: IOPS' fourcorners run /tmp/small.fio "$sata"

on 'virtio-blk'
expect 'doctor knows it' 0 'serial virtio' fourcorners doctor --json "$virtio"
least 'that it tells no health is said' 'health-not-available.*Unable to detect device type' "$virtio"
exit $failed
