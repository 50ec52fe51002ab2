# A virtual drive as a block device of the guest (serve --at ublk). Debian's stable kernel has no ublk_drv:
#   scripts/guest-tests ublk --kernel linux-image-6.12...deb --tool mkfs.ext4 --tool fsck.ext4 --tool fallocate
# with a kernel of its backports. Without the driver it is checked that serve says so.
. /with/in-guest/check.sh
on 'ublk'

# served NAME OPTION...: /dev/ublkb0 is that drive; what it says goes to /tmp/said, its report to /tmp/report.
served() {
  fourcorners serve "$@" --at ublk --progress json >/tmp/report 2>/tmp/said &
  server=$!
  until_holds test -b /dev/ublkb0
}
# ended WHAT SIGNAL: the server ends by it, without an error, and takes its device away.
ended() {
  kill -"$2" $server; wait $server; code=$? said=$(cat /tmp/said)
  holds "$1" test "$code" = 0 -a ! -e /dev/ublkb0 -a ! -e /dev/ublkc0
}
queue() { cat /sys/block/ublkb0/queue/"$1"; }

expect 'serve --at ublk without the driver' 2 'modprobe ublk_drv' fourcorners serve crucial-m4-64gb --at ublk
if ! modprobe ublk_drv 2>/dev/null; then
  printf 'skipped\tublk\tthis kernel has no ublk_drv\n'
  finish
fi
expect 'with --tls' 2 'nothing that could be encrypted' fourcorners serve crucial-m4-64gb --at ublk --tls /tmp
expect 'with --until-last-disconnect' 2 'stays connected' fourcorners serve crucial-m4-64gb --at ublk --until-last-disconnect

served crucial-m4-64gb --record /tmp/m4.trace --record-data /tmp/m4.log
said=$(cat /tmp/said)
holds 'it says where it is' grep -q 'at /dev/ublkb0' /tmp/said
holds 'its size is the drive'"'"'s' test "$(blockdev --getsize64 /dev/ublkb0)" = 64023257088
holds 'blocks of 512 bytes, stored in 4 KiB' test "$(queue logical_block_size)/$(queue physical_block_size)" = 512/4096
holds 'a write cache to be flushed, nothing that turns, discards' \
  test "$(queue write_cache), $(queue rotational), $(queue discard_max_bytes)" = 'write back, 0, 2147483648'
dd if=/dev/urandom of=/tmp/letters bs=1M count=8 2>/dev/null
holds 'what is written' dd if=/tmp/letters of=/dev/ublkb0 bs=64k seek=16 oflag=direct conv=fsync
dd if=/dev/ublkb0 of=/tmp/back bs=64k skip=16 count=128 iflag=direct 2>/dev/null
holds '... is read' cmp /tmp/letters /tmp/back
blkdiscard -o 1048576 -l 8388608 /dev/ublkb0
dd if=/dev/ublkb0 of=/tmp/back bs=64k skip=16 count=128 iflag=direct 2>/dev/null
dd if=/dev/zero of=/tmp/zeros bs=1M count=8 2>/dev/null
holds 'what is discarded is read as zeros' cmp /tmp/zeros /tmp/back
dd if=/dev/ublkb0 of=/dev/null bs=4k count=200 skip=99999 iflag=direct 2>/dev/null
ended 'it ends by SIGTERM' TERM
holds 'its report has reads, writes, a discard and a flush' \
  sh -c 'tail -n 1 /tmp/report | grep -q "\"name\":\"read\"" && tail -n 1 /tmp/report | grep -q "\"name\":\"trim\"" && tail -n 1 /tmp/report | grep -q "\"name\":\"flush\""'
expect 'what was recorded is replayed at its times' 0 '"ios":' fourcorners trace replay /tmp/m4.trace crucial-m4-64gb --json --no-db

served crucial-m4-64gb --read-only
expect 'a drive that is served to be read' 0 '^1$' blockdev --getro /dev/ublkb0
expect '... is not written' 1 'not permitted|read-only|Read-only' dd if=/tmp/letters of=/dev/ublkb0 bs=64k count=1 oflag=direct
ended '... and ends by SIGINT' INT

served wd-velociraptor-300gb
holds 'a hard disk turns, and takes no discards' test "$(queue rotational)/$(queue discard_max_bytes)" = 1/0
ended '... and ends' TERM

if command -v mkfs.ext4 >/dev/null; then
  modprobe ext4
  served crucial-m4-64gb --contents /tmp/m4.img
  mkfs.ext4 -q -E nodiscard /dev/ublkb0 >/dev/null 2>&1
  mount /dev/ublkb0 /mnt && cp /tmp/letters /mnt/letters && sync
  holds 'a file system on it' cmp /tmp/letters /mnt/letters
  expect '... is trimmed' 0 'trimmed' fstrim -v /mnt
  umount /mnt
  ended '... and ends' TERM
  served crucial-m4-64gb --contents /tmp/m4.img --destroy /tmp/m4.img --force /tmp/m4.img
  mount /dev/ublkb0 /mnt
  holds '... is there again' cmp /tmp/letters /mnt/letters
  umount /mnt
  if command -v fsck.ext4 >/dev/null; then holds '... and is whole' fsck.ext4 -fn /dev/ublkb0; fi
  ended '... and ends again' TERM
fi

# The end with something not written yet: the kernel writes it before it lets go.
served crucial-m4-64gb --contents /tmp/late.img
dd if=/tmp/letters of=/dev/ublkb0 bs=1M seek=32 2>/dev/null
ended 'it ends while the kernel keeps data back' TERM
dd if=/tmp/late.img of=/tmp/back bs=1M skip=32 count=8 2>/dev/null
holds '... which are stored' cmp /tmp/letters /tmp/back

# One that is killed leaves no disk, and its number to the next.
served crucial-m4-64gb
kill -KILL $server; wait $server 2>/dev/null
until_holds test ! -e /dev/ublkb0
holds 'one that is killed takes its device away' test ! -e /dev/ublkb0
served crucial-m4-64gb
holds 'the next has its number' test -b /dev/ublkb0 -a ! -e /dev/ublkc1
ended '... and ends' TERM

# Faults reach a program as a drive's do.
served crucial-m4-64gb --fault eio-read@each=1,1048576-2097152
expect 'an injected error' 1 'I/O error|Input/output' dd if=/dev/ublkb0 of=/dev/null bs=4k skip=256 count=1 iflag=direct
holds '... is where it was injected' dd if=/dev/ublkb0 of=/dev/null bs=4k skip=1024 count=1 iflag=direct
ended '... and ends' TERM
finish
