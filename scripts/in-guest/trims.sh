# Does a TRIM reach the drive: devices of which it is known.
. /with/in-guest/check.sh
modprobe -a dm-mod dm-crypt raid0 raid1 raid456
nvme=$(disk nvme) virtio=$(disk virtio) two=$(disk nvme-two)
other=${two%n2}n1
fill_all

# reaches WHAT PATTERN TARGET: what `trim-reaches` concludes of it.
reaches() { expect "$1" 0 "$2" conclusion "$3"; }
conclusion() { review "$1" --destroy "$1" --force "$1" --methods trim-reaches --quick --json | sed 's/.*"verdicts":/"verdicts":/'; }

on 'NVMe' "$nvme"; reaches 'a TRIM reaches it' '"outcome":"yes"' "$nvme"
on 'virtio-blk' "$virtio"; reaches 'a TRIM reaches it' '"outcome":"yes"' "$virtio"
also_on 'dm-linear over virtio-blk'
echo "0 32768 linear $virtio 0" | dmsetup create fc
reaches 'a TRIM reaches it' '"outcome":"yes"' /dev/mapper/fc
dmsetup remove fc
also_on 'dm-crypt without discards'
key=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
echo "0 32768 crypt aes-xts-plain64 $key$key 0 $virtio 0" | dmsetup create fc
reaches 'it takes no TRIM' '"outcome":"no"' /dev/mapper/fc
dmsetup remove fc
also_on 'dm-crypt with discards'
echo "0 32768 crypt aes-xts-plain64 $key$key 0 $virtio 0 1 allow_discards" | dmsetup create fc
reaches 'a TRIM reaches it' '"outcome":"yes"' /dev/mapper/fc
dmsetup remove fc
# raid LEVEL NUMBER DISK...: an array of so many disks.
raid() {
  local level=$1 number=$2 clean=--assume-clean
  shift 2
  [ "$level" != 0 ] || clean=
  # shellcheck disable=SC2086
  yes | mdadm --create /dev/md0 --run --metadata=1.2 --level="$level" --raid-devices="$number" $clean "$@" >/dev/null 2>&1
}
on 'RAID 1' "$two" "$other" "$virtio"
raid 1 2 "$other" "$two"
reaches 'a TRIM reaches it' '"outcome":"yes"' /dev/md0
mdadm --stop /dev/md0 >/dev/null 2>&1
also_on 'RAID 0'
raid 0 2 "$other" "$two"
reaches 'a TRIM reaches it' '"outcome":"yes"' /dev/md0
mdadm --stop /dev/md0 >/dev/null 2>&1
also_on 'RAID 5'   # which passes none on unless it is told that its disks return zeroes
raid 5 3 "$other" "$two" "$virtio"
reaches 'it takes no TRIM' '"outcome":"no"' /dev/md0
mdadm --stop /dev/md0 >/dev/null 2>&1
on 'null_blk with discard'
null_blk 64 memory_backed discard
reaches 'a TRIM reaches it' '"outcome":"yes"' /dev/nullb0
no_null_blk
also_on 'null_blk without discard'
null_blk 64 memory_backed
reaches 'it takes no TRIM' '"outcome":"no"' /dev/nullb0
no_null_blk
also_on 'zram'
modprobe zram num_devices=1; echo 64M >/sys/block/zram0/disksize
reaches 'a TRIM reaches it' '"outcome":"yes"' /dev/zram0
rmmod zram
also_on 'scsi_debug with UNMAP'
modprobe scsi_debug dev_size_mb=32 lbpu=1 lbprz=1
until_holds scsi_debug; reaches 'a TRIM reaches it' '"outcome":"yes"' "$(scsi_debug)"
rmmod scsi_debug
finish
