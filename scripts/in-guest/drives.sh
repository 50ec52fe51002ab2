# What each kind of drive is taken for: by doctor, by a review, and by the tools that tell its health.
. /with/in-guest/check.sh
nvme=$(disk nvme) four=$(disk nvme-4k) sata=$(sata) virtio=$(disk virtio) scsi=$(virtio_scsi)
fill_all

# least WHAT PATTERN TARGET: the least review of it ends well, and its record says this.
least() { expect "$1" 0 "$2" review "$3" --destroy "$3" --methods $here/write.toml --json; }

# Whether the bytes that the drive says it was written are at least those of the last record.
grown() {
  local units='"host_written_bytes":\([0-9]*\)'
  printf '%s' "$said" | sed "s/.*\"before\":{[^}]*$units[^}]*}.*\"after\":{[^}]*$units.*/\\1 \\2/" | { read -r before after; [ "$after" -gt "$before" ]; }
}

on 'NVMe, 512-byte blocks' "$nvme"
expect 'doctor knows it' 0 'QEMU NVMe Ctrl, serial nvme' fourcorners doctor --json "$nvme"
least 'health before and after, by smartctl' '"before":\{"sources":\[[^]]*"smartctl".*"after":\{"sources":\[[^]]*"smartctl"' "$nvme"
holds 'what it says it was written grew by what was written' grown
mkdir -p /tmp/tools
printf '#!/bin/sh\necho Segmentation fault >&2\nexit 139\n' >/tmp/tools/smartctl; chmod +x /tmp/tools/smartctl
mv /usr/sbin/smartctl /usr/sbin/away
least 'smartctl is not installed' 'smartctl is not installed' "$nvme"
mv /usr/sbin/away /usr/sbin/smartctl
PATH=/tmp/tools:$PATH least 'smartctl answers nonsense' 'smartctl.*did not print JSON' "$nvme"
printf '#!/bin/sh\necho "smartctl 6.6 2017-11-05 r4594"; echo "=======> UNRECOGNIZED OPTION: json"; exit 1\n' >/tmp/tools/smartctl
PATH=/tmp/tools:$PATH least 'smartctl is too old' 'smartctl.*is it older than 7.0' "$nvme"

on 'NVMe, 4Kn' "$four"
expect 'doctor knows it' 0 'serial nvme-4k' fourcorners doctor --json "$four"
least 'its logical blocks are of 4096 bytes' '"logical_block_bytes":4096' "$four"
printf '[r]\nrw=randread\nbs=512\nruntime=1\ntime_based=1\n' >/tmp/small.fio
expect 'I/Os of 512 bytes are refused' 1 'multiples of the target.s logical block, 4096 bytes' fourcorners run /tmp/small.fio "$four"

on 'SCSI (virtio-scsi), 4Kn' "$scsi"
least 'its logical blocks are of 4096 bytes' '"logical_block_bytes":4096' "$scsi"

on 'SATA (AHCI), 512e' "$sata"
expect 'doctor knows it' 0 'QEMU HARDDISK, serial ahci' fourcorners doctor --json "$sata"
least 'its logical blocks are of 512 bytes' '"logical_block_bytes":512' "$sata"
least 'health before and after, by smartctl' '"after":\{"sources":\["smartctl"\],"passed":true' "$sata"
expect 'I/Os of 512 bytes are done: the control' 0 'read: IOPS' fourcorners run /tmp/small.fio "$sata"

on 'virtio-blk' "$virtio"
expect 'doctor knows it' 0 'serial virtio' fourcorners doctor --json "$virtio"
least 'that it tells no health is said' 'health-not-available.*Unable to detect device type' "$virtio"
# flushes WHAT 1|0 JOB: the driver of the disk is to get flushes (1) or none (0) while the job file runs.
flushed() { awk '{ print $16 }' "/sys/block/${virtio#/dev/}/stat"; }
flushes() {
  local before
  before=$(flushed)
  run fourcorners run "$3" "$virtio" --destroy "$virtio"
  said="$said; flushes: $before, then $(flushed)"
  if [ $code = 0 ] && [ $(($(flushed) > before)) = "$2" ]; then verdict ok "$1"; else verdict FAIL "$1"; fi
}
cache() { echo "$1" >"/sys/block/${virtio#/dev/}/queue/write_cache"; }
job='[w]\nrw=randwrite\nbs=4k\nioengine=io_uring\ndirect=1\nsize=400k\n'
printf "$job" >/tmp/plain.fio; printf "${job}fdatasync=1\n" >/tmp/flush.fio; printf "${job}sync=dsync\n" >/tmp/dsync.fio
cache 'write back'
flushes 'write cache on: plain writes are not flushed, the control' 0 /tmp/plain.fio
flushes 'write cache on: a flush reaches the drive' 1 /tmp/flush.fio
flushes 'write cache on: a durable write (RWF_DSYNC) is flushed' 1 /tmp/dsync.fio
cache 'write through'
flushes 'write cache off: no flush has to reach the drive' 0 /tmp/flush.fio
flushes 'write cache off: no durable write is flushed' 0 /tmp/dsync.fio
cache 'write back'
finish
