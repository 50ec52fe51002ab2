# Verdicts and times of devices of which it is known how they behave.
. /with/in-guest/check.sh
modprobe -a dm-mod dm-delay dm-snapshot
virtio=$(disk virtio)
fill_all

conclusions() { review "$1" --destroy "$1" --force "$1" --methods four-corners --quick --json | sed 's/.*"verdicts":/"verdicts":/'; }
slower='"id":"slower-incompressible-sequential-write"[^}]*"outcome":'

on 'dm-delay, 20 ms a read' "$virtio"
echo "0 $(blockdev --getsz "$virtio") delay $virtio 0 20 $virtio 0 0" | dmsetup create fc
printf '[r]\nrw=randread\nbs=4k\nruntime=2\ntime_based=1\ndirect=1\n' >/tmp/delay.fio
run fourcorners run /tmp/delay.fio /dev/mapper/fc --output-format json
# The least: a busy machine makes others longer. The kernel's timer is late by up to two ticks of 4 ms.
least=$(printf '%s' "$said" | tr -d '\n' | grep -o '"lat_ns"[^}]*' | head -n 1 | sed 's/.*"min": *//; s/[^0-9].*//')
said="the least latency is $least ns; $said"
holds 'the least latency is the delay, and at most two ticks more' test "$least" -ge 20000000 -a "$least" -lt 29000000
dmsetup remove fc

on 'virtio-blk' "$virtio"
expect 'not said to compress: the control' 0 "$slower\"(no|undetermined)\"" conclusions "$virtio"
also_on 'zram, which compresses'
modprobe zram num_devices=1; echo 64M >/sys/block/zram0/disksize
expect 'slower with data that does not compress' 0 "$slower\"yes\"" conclusions /dev/zram0
rmmod zram

# What a copy-on-write snapshot is asked to keep lies on zram; its origin is among the disks that may not change.
snapshot() { # MIB OF ITS STORE
  modprobe zram num_devices=1; echo "$1"M >/sys/block/zram0/disksize
  echo "0 $(blockdev --getsz "$virtio") snapshot $virtio /dev/zram0 N 8" | dmsetup create fc
}
no_snapshot() { dmsetup remove fc; rmmod zram; }
printf '[w]\nrw=write\nbs=64k\nioengine=io_uring\ndirect=1\nsize=4m\n' >/tmp/snapshot.fio
on 'dm-snapshot' /dev/zram0
snapshot 8
expect 'is written, and its origin stays as it is' 0 'write: IOPS' fourcorners run /tmp/snapshot.fio /dev/mapper/fc --destroy /dev/mapper/fc
no_snapshot; snapshot 2
expect 'its store runs full: said' 1 '[Ii]nput/output error' fourcorners run /tmp/snapshot.fio /dev/mapper/fc --destroy /dev/mapper/fc
no_snapshot

# Flushes that the driver of the disk was given while the method ran.
flushed() { awk '{ print $16 }' "/sys/block/${virtio#/dev/}/stat"; }
sync_writes() {
  local before
  before=$(flushed)
  run review "$virtio" --destroy "$virtio" --force "$virtio" --methods sync-writes --quick
  flushes=$(($(flushed) - before)) said="$flushes flushes; $said"
}
cache() { echo "$1" >"/sys/block/${virtio#/dev/}/queue/write_cache"; }
on 'virtio-blk, sync-writes' "$virtio"
cache 'write back'; sync_writes
holds 'write cache on: what is to be durable is flushed' test "$code" = 0 -a "$flushes" -gt 100
cache 'write through'; sync_writes
holds 'write cache off: there is nothing to flush' test "$code" = 0 -a "$flushes" = 0
finish
