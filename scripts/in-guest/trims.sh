# Does a TRIM reach the drive: devices of which it is known.
. /with/in-guest/check.sh
modprobe -a dm-mod dm-crypt
nvme=$(disk nvme) virtio=$(disk virtio) two=$(disk nvme-two)

# reaches WHAT PATTERN TARGET: what `trim-reaches` concludes of it.
reaches() { expect "$1" 0 "$2" review "$3" --destroy "$3" --force "$3" --methods trim-reaches --quick --json; }

on 'NVMe'; reaches 'a TRIM reaches it' '"outcome":"yes"' "$nvme"
on 'virtio-blk'; reaches 'a TRIM reaches it' '"outcome":"yes"' "$virtio"
on 'dm-linear over virtio-blk'
echo "0 32768 linear $virtio 0" | dmsetup create fc
reaches 'a TRIM reaches it' '"outcome":"yes"' /dev/mapper/fc
dmsetup remove fc
on 'dm-crypt without discards'
key=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
echo "0 32768 crypt aes-xts-plain64 $key$key 0 $virtio 0" | dmsetup create fc
reaches 'it takes no TRIM' '"outcome":"no"' /dev/mapper/fc
dmsetup remove fc
on 'dm-crypt with discards'
echo "0 32768 crypt aes-xts-plain64 $key$key 0 $virtio 0 1 allow_discards" | dmsetup create fc
reaches 'a TRIM reaches it' '"outcome":"yes"' /dev/mapper/fc
dmsetup remove fc
on 'RAID 1'
yes | mdadm --create /dev/md0 --run --assume-clean --metadata=1.2 --level=1 --raid-devices=2 "${two%n2}n1" "$two" >/dev/null 2>&1
reaches 'a TRIM reaches it' '"outcome":"yes"' /dev/md0
mdadm --stop /dev/md0 >/dev/null 2>&1
on 'null_blk with discard'
modprobe null_blk nr_devices=1 gb=1 memory_backed=1 discard=1
reaches 'a TRIM reaches it' '"outcome":"yes"' /dev/nullb0
rmmod null_blk
on 'null_blk without discard'
modprobe null_blk nr_devices=1 gb=1 memory_backed=1
reaches 'it takes no TRIM' '"outcome":"no"' /dev/nullb0
rmmod null_blk
on 'zram'
modprobe zram num_devices=1; echo 64M >/sys/block/zram0/disksize
reaches 'a TRIM reaches it' '"outcome":"yes"' /dev/zram0
rmmod zram
on 'scsi_debug with UNMAP'
modprobe scsi_debug dev_size_mb=32 lbpu=1 lbprz=1
until_holds scsi_debug; reaches 'a TRIM reaches it' '"outcome":"yes"' "$(scsi_debug)"
rmmod scsi_debug
exit $failed
