# Verdicts and times of devices of which it is known how they behave.
. /with/in-guest/check.sh
modprobe -a dm-mod dm-delay
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
finish
