# The kernel's own trace of a device, recorded, read and replayed on another.
. /with/in-guest/check.sh
virtio=$(disk virtio)
fill_all
modprobe null_blk nr_devices=1 gb=1 memory_backed=0

on 'virtio-blk'
fourcorners trace record "$virtio" -o /tmp/trace >/tmp/said 2>&1 &
recorder=$!
# Its first record, the time, is copied when the trace has been started; the buffers are there before.
until_holds sh -c 'cat /tmp/.fourcorners-* | grep -q .'
# By one processor, so that the file of the other is empty.
taskset 2 dd if="$virtio" of=/dev/null bs=64k count=128 iflag=direct 2>/dev/null
kill -TERM $recorder; wait $recorder; code=$? said=$(cat /tmp/said)
holds 'trace record, by blktrace' test $code = 0
expect 'trace info: its 128 reads' 0 '(^| )128( |$)' fourcorners trace info /tmp/trace.blktrace.0
also_on 'null_blk'
expect 'replay of what was recorded' 0 '"ios":128' fourcorners trace replay /tmp/trace.blktrace.0 /dev/nullb0 --destroy /dev/nullb0 --drive-state empty --json --no-db
rmmod null_blk
finish
