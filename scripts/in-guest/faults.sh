# A drive that fails, goes away or stops answering in the middle of a review: what was measured is kept, and --resume goes on
# when it is back.
. /with/in-guest/check.sh
modprobe dm-mod
gone='no such device|input/output error|no byte was moved: the drive was removed'
fill_all
nvme=$(disk nvme) virtio=$(disk virtio)
plan=reads   # these reviews only read: not even what they are about changes

measured_one() { grep -q '"figures":{"random' /tmp/out/review.resume/0.json; }
figures() { [ "$(grep -o '"complete":true' /tmp/out/review.json | wc -l)" = "$1" ]; }
kept() { ! figures 0 && grep -q '"ended":{"failed"' /tmp/out/review.json; }
whole() { figures 4 && grep -q '"ended":"complete"' /tmp/out/review.json; }

# begin TARGET: a review of it, in the background, that has measured its first figure.
begin() {
  rm -rf /tmp/out
  # Not by a function: that would be a shell of its own, which a signal would end in place of the program.
  fourcorners review "$1" --destroy "$1" --methods $here/$plan.toml --out /tmp/out --no-db --quiet >/tmp/said 2>&1 &
  reviewer=$!
  until_holds measured_one
}
# broken WHAT PATTERN TARGET BREAK MEND: where the commands BREAK and MEND break the target and bring it back.
broken() {
  local what=$1 pattern=$2 target=$3
  begin "$target"
  eval "$4"
  wait $reviewer
  code=$? said=$(cat /tmp/said)
  if [ $code = 1 ] && says "$pattern" && says 'the [1-4] figures measured before are kept' && says 'to continue: .*fourcorners review .* --resume=/tmp/out'
  then verdict ok "$what: said"; else verdict FAIL "$what: said (wanted 1: $pattern)"; fi
  holds "$what: what was measured is in the files" kept
  eval "$5"
  expect "$what: goes on with --resume" 0 '' review "$target" --destroy "$target" --methods $here/$plan.toml --resume /tmp/out
  holds "$what: then it is whole" whole
}

sectors=$(blockdev --getsz "$virtio")
table() { dmsetup suspend --noflush fc; echo "0 $sectors $1" | dmsetup reload fc; dmsetup resume fc; }
echo "0 $sectors linear $virtio 0" | dmsetup create fc
on 'device mapper'
broken 'all I/Os fail (dm-error)' 'input/output error' /dev/mapper/fc 'table error' "table 'linear $virtio 0'"
on 'NVMe'
slot=$(readlink -f "/sys/block/${nvme#/dev/}/device/device")
broken 'removed from its slot' "$gone" "$nvme" "echo 1 >$slot/remove" \
  "echo 1 >/sys/bus/pci/rescan; until_holds test -b $nvme; sleep 1"

[ $matrix = long ] || { dmsetup remove fc; finish; }

on 'device mapper'
modprobe dm-flakey
broken 'I/Os fail for a second (dm-flakey)' '[Ii]nput/output error' /dev/mapper/fc "table 'flakey $virtio 0 1 1'" "table 'linear $virtio 0'"
begin /dev/mapper/fc
dmsetup suspend --noflush fc; sleep 4; dmsetup resume fc
wait $reviewer; code=$? said=$(cat /tmp/said)
holds 'does not answer for four seconds: the review ends well' test $code = 0
holds 'does not answer for four seconds: it is whole' whole
holds 'does not answer for four seconds: the longest latency says so' grep -qE '"max":[4-9][0-9]{6}' /tmp/out/review.json
begin /dev/mapper/fc
dmsetup suspend --noflush fc; sleep 1; kill -TERM $reviewer; sleep 3
kill -0 $reviewer 2>/dev/null; said="alive: $?; $(cat /tmp/said)"
dmsetup resume fc
wait $reviewer; code=$? said="$said; $(cat /tmp/said)"
if [ $code = 1 ] && says 'alive: 0' && says 'stopped; the [1-4] figures measured before are kept'; then verdict ok 'SIGTERM while it does not answer: ends when it does'; else verdict FAIL 'SIGTERM while it does not answer: ends when it does'; fi
expect 'SIGTERM while it does not answer: goes on with --resume' 0 '' review /dev/mapper/fc --destroy /dev/mapper/fc --methods $here/$plan.toml --resume /tmp/out
on 'device mapper, written' "$virtio" "$(readlink -f /dev/mapper/fc)"
plan=writes
broken 'all I/Os fail (dm-error)' 'input/output error' /dev/mapper/fc "table error" "table 'linear $virtio 0'"
plan=reads
dmsetup remove fc

on 'scsi_debug'
modprobe scsi_debug dev_size_mb=32 medium_error_start=0 medium_error_count=65536
until_holds scsi_debug; debug=$(scsi_debug); name=${debug#/dev/}
options=/sys/bus/pseudo/drivers/scsi_debug/opts
broken 'unreadable sectors' 'read of 4096 bytes at offset .*(no data available|input/output error)' "$debug" "echo 2 >$options" "echo 0 >$options"
host=$(readlink -f "/sys/block/$name/device" | grep -o 'host[0-9]*' | head -n 1)
echo 1 >/sys/block/$name/device/timeout
echo 1 >/sys/block/$name/device/eh_timeout
broken 'its commands time out' 'timed out|input/output error' "$debug" "echo 1 >${options%opts}every_nth; echo 4 >$options" \
  "echo 0 >$options; echo 0 >${options%opts}every_nth; until_holds sh -c 'echo running >/sys/block/$name/device/state; dd if=$debug of=/dev/null count=1'"
broken 'deleted from the bus' "$gone" "$debug" "echo 1 >/sys/block/$name/device/delete" \
  "echo '- - -' >/sys/class/scsi_host/$host/scan; until_holds test -b $debug"
rmmod scsi_debug
finish
