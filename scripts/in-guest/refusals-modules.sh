# Refusals of the guard on devices that the kernel makes itself, and the same allowed.
. /with/in-guest/check.sh
fill_all

on 'null_blk, zoned'
null_blk 64 memory_backed zoned
refused 'host-managed zones' 'host-managed zoned' /dev/nullb0 --destroy /dev/nullb0 --force /dev/nullb0
no_null_blk
null_blk 64 memory_backed
allowed 'the same without zones' /dev/nullb0 --destroy /dev/nullb0
no_null_blk

also_on 'scsi_debug'
modprobe scsi_debug dev_size_mb=32 wp=1
until_holds scsi_debug; debug=$(scsi_debug)
refused 'write protected by the drive' 'is read-only' "$debug" --destroy "$debug"
rmmod scsi_debug; modprobe scsi_debug dev_size_mb=32
until_holds scsi_debug; debug=$(scsi_debug)
allowed 'without write protection' "$debug" --destroy "$debug"
rmmod scsi_debug

also_on 'zram'
modprobe zram num_devices=1; echo 64M >/sys/block/zram0/disksize
mkswap /dev/zram0 >/dev/null; swapon /dev/zram0
refused 'swap' 'swap' /dev/zram0 --destroy /dev/zram0 --force /dev/zram0
swapoff /dev/zram0
allowed 'no longer swap, named by --force' /dev/zram0 --destroy /dev/zram0 --force /dev/zram0
rmmod zram
finish
