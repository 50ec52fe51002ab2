# What the checks of this folder are written with. A check prints a line: its outcome, the device and what was checked,
# separated by tabs; what a failed one met follows it. Read by: . /with/in-guest/check.sh
here=/with/in-guest
matrix=${MATRIX:-long}
failed=0

# The kind of device that the checks after it are on.
on() { device=$1; }

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

# Its first 8 MiB made something that neither a write nor a discard would leave as it is.
fill() { dd if=/dev/urandom of="$1" bs=1M count=8 conv=fsync 2>/dev/null; }

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

# Whole disks that hold something, but for those that are named.
bystanders() {
  local disk path
  for disk in /sys/block/*; do
    path=/dev/${disk##*/}
    case " $* " in *" $path "*) continue ;; esac
    [ "$(cat "$disk/size")" = 0 ] || echo "$path $(sum "$path")"
  done
}

# watch DEVICE...: from here to unchanged, no other disk than these may change.
watch() { named="$*"; bystanders "$@" >/tmp/bystanders; }
unchanged() {
  # shellcheck disable=SC2086
  bystanders $named >/tmp/bystanders.now
  device="every other disk ($(wc -l </tmp/bystanders))"
  said=$(diff /tmp/bystanders /tmp/bystanders.now) && code=0 || code=1
  if [ "$code" = 0 ] && [ -s /tmp/bystanders ]; then verdict ok "checksum as before, after: $1"; else verdict FAIL "checksum as before, after: $1"; fi
}

# Until a condition holds, for a minute at most.
until_holds() {
  local tries=0
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1)); [ $tries -lt 600 ] || return 1
    usleep 100000
  done
}

# The disk of this serial number; of a controller with several, the last.
disk() { grep -lx "$1 *" /sys/block/*/device/serial /sys/block/*/serial 2>/dev/null | sed 's,/sys/block/\([^/]*\)/.*,/dev/\1,' | sort | tail -n 1; }
# The disk behind the AHCI controller, that of virtio-scsi, and scsi_debug's.
sata() { echo /dev/"$(ls /sys/bus/pci/drivers/ahci/*/ata*/host*/target*/*/block)"; }
virtio_scsi() { echo /dev/"$(ls /sys/bus/virtio/drivers/virtio_scsi/*/host*/target*/*/block)"; }
scsi_debug() { ls /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*/block | sed 's,^,/dev/,' | grep .; }
