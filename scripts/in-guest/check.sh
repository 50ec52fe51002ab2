# What the checks of this folder are written with. A check prints a line: its outcome, the device and what was checked,
# separated by tabs; what a failed one met follows it. Read by: . /with/in-guest/check.sh
here=/with/in-guest
rm -f /tmp/watched /tmp/seen
matrix=${MATRIX:-long}
failed=0

# on KIND DEVICE...: the checks after it are on this kind of device. Until the next `on`, or the end, none of the other
# disks nor of the files may change.
on() {
  unchanged
  device=$1
  shift
  watch "$@"
}

# The checks after it are on this kind of device; what may not change stays the same.
also_on() { device=$1; }

verdict() { # OUTCOME WHAT
  printf '%s\t%s\t%s\n' "$1" "$device" "$2"
  [ "$1" != FAIL ] || { failed=1; printf '%s\n' "$code: $said" | tail -n 25 | cut -c 1-400 | sed 's/^/    /'; }
}

# Runs a command: its exit code is $code, what it says is $said.
run() { said=$("$@" 2>&1); code=$?; }

# Whether the last command has said this (an extended regular expression).
says() { printf '%s\n' "$said" | grep -qE -- "$1"; }

# expect WHAT CODE PATTERN COMMAND...: the command has to end with this code and to say this.
expect() {
  local what=$1 wanted=$2 pattern=$3
  shift 3
  run "$@"
  if [ "$code" = "$wanted" ] && says "$pattern"; then verdict ok "$what"; else verdict FAIL "$what (wanted $wanted: $pattern)"; fi
}

# holds WHAT COMMAND...: the command, which is about what was done before, has to succeed.
holds() {
  local what=$1 before=$said
  shift
  run "$@"
  if [ "$code" = 0 ]; then verdict ok "$what"; else said="$* -> $said; after: $before"; verdict FAIL "$what"; fi
}

# The checksum of a device. What the page cache holds of it is dropped first: a write by another name has not changed that.
sum() { blockdev --flushbufs "$1" 2>/dev/null; crc32 "$1"; }

# Its first 8 MiB made something that neither a write nor a discard would leave as it is; partitions are gone.
fill() { dd if=/dev/urandom of="$1" bs=1M count=8 conv=fsync 2>/dev/null; blockdev --rereadpt "$1" 2>/dev/null; }
fill_all() { local disk; for disk in /dev/nvme?n? /dev/sd? /dev/vd?; do fill "$disk"; done; }

review() { fourcorners review "$@" --no-db --quiet; }

# refused WHAT PATTERN TARGET OPTION...: one line, exit code 2, and not a byte of the target is another.
refused() {
  local what=$1 pattern=$2 target=$3 before
  shift 3
  before=$(sum "$target")
  run review "$target" --methods $here/write.toml --json "$@"
  if [ "$code" = 2 ] && says "$pattern" && [ "$(printf '%s\n' "$said" | wc -l)" = 1 ] && [ "$before" = "$(sum "$target")" ]; then
    verdict ok "refused: $what"
  else
    verdict FAIL "refused: $what (wanted 2: $pattern)"
  fi
}

# allowed WHAT TARGET OPTION...: the control of a refusal. It is written, and that shows.
allowed() {
  local what=$1 target=$2 before
  shift 2
  before=$(sum "$target")
  run review "$target" --methods $here/write.toml --json "$@"
  if [ "$code" = 0 ] && [ "$before" != "$(sum "$target")" ]; then verdict ok "written: $what"; else verdict FAIL "written: $what"; fi
}

# watch DEVICE...: notes the checksums of all disks but these, and of files that nobody names.
watch() {
  local path known
  [ -e /tmp/other ] || dd if=/dev/urandom of=/tmp/other bs=1M count=1 2>/dev/null
  for path in /sys/block/*; do
    [ "$(cat "$path/size")" = 0 ] || echo "/dev/${path##*/}"
  done >/tmp/paths
  find /tmp/other /with /etc -type f >>/tmp/paths
  while read -r path; do
    case " $* " in *" $path "*) continue ;; esac
    known=$(grep -s "^$path " /tmp/seen) || known="$path $(sum "$path")"   # nothing was done since `unchanged` saw it
    echo "$known"
  done </tmp/paths >/tmp/watched
}

# Whether what is watched is as it was; what went away, a disk that was taken out, cannot be looked at.
is_unchanged() {
  local path before now
  while read -r path before; do
    [ -e "$path" ] || continue
    now=$(sum "$path")
    echo "$path $now"
    [ "$now" = "$before" ] || echo "$path was $before and is $now" >&2
  done </tmp/watched >/tmp/seen 2>/tmp/changed
  [ ! -s /tmp/changed ]
}

unchanged() {
  [ -e /tmp/watched ] || return 0
  local after=$device disks
  is_unchanged && code=0 || code=1
  said=$(cat /tmp/changed) disks=$(grep -c '^/dev/' /tmp/seen)
  device='every other disk and file'
  # Where nothing was looked at, nothing was seen.
  if [ "$code" = 0 ] && [ "$disks" -ge 2 ]; then verdict ok "checksums as before"; else verdict FAIL "checksums as before, after $after ($disks disks)"; fi
  rm /tmp/watched
}

# The end of a topic.
finish() { unchanged; exit $failed; }

# Until a condition holds, for five minutes at most: the machine may be busy.
until_holds() {
  local tries=0
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1)); [ $tries -lt 3000 ] || return 1
    usleep 100000
  done
}

# The disk of this serial number; of a controller with several, the last.
disk() { grep -lx "$1 *" /sys/block/*/device/serial /sys/block/*/serial 2>/dev/null | sed 's,/sys/block/\([^/]*\)/.*,/dev/\1,' | sort | tail -n 1; }
# The disk behind the AHCI controller, that of virtio-scsi, and scsi_debug's.
sata() { echo /dev/"$(ls /sys/bus/pci/drivers/ahci/*/ata*/host*/target*/*/block)"; }
virtio_scsi() { echo /dev/"$(ls /sys/bus/virtio/drivers/virtio_scsi/*/host*/target*/*/block)"; }
scsi_debug() { ls /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*/block | sed 's,^,/dev/,' | grep .; }

# null_blk MIB ATTRIBUTE...: /dev/nullb0 of this size, with these attributes set to 1; and away with it.
null_blk() {
  local at=/sys/kernel/config/nullb/nullb0 attribute
  modprobe null_blk nr_devices=0
  mount -t configfs none /sys/kernel/config 2>/dev/null
  mkdir $at && echo "$1" >$at/size && echo 4 >$at/zone_size
  shift
  for attribute in "$@" power; do echo 1 >$at/"$attribute"; done
}
no_null_blk() { rmdir /sys/kernel/config/nullb/nullb0; rmmod null_blk; }
