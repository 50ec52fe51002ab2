# The kernel's own trace of a device, recorded, read and replayed on another.
. /with/in-guest/check.sh
virtio=$(disk virtio)
fill "$virtio"
watch /dev/nullb0
modprobe null_blk nr_devices=1 gb=1 memory_backed=0

on 'virtio-blk'
(sleep 1; dd if="$virtio" of=/dev/null bs=64k count=128 iflag=direct 2>/dev/null) &
expect 'trace record, by blktrace' 0 '' fourcorners trace record "$virtio" -o /tmp/trace --seconds 4
wait
expect 'trace info: its 128 reads' 0 '(^| )128( |$)' fourcorners trace info /tmp/trace.blktrace.0
on 'null_blk'
expect 'replay of what was recorded' 0 '"ios":128' fourcorners trace replay /tmp/trace.blktrace.0 /dev/nullb0 --destroy /dev/nullb0 --drive-state empty --json --no-db
rmmod null_blk
unchanged 'a record and a replay'
exit $failed
