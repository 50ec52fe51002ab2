# Every refusal of the guard on the real thing, and the same allowed once it is named or freed.
. /with/in-guest/check.sh
modprobe -a dm-mod raid1 loop ext4 dm-crypt
fill_all
virtio=$(disk virtio) nvme=$(disk nvme) two=$(disk nvme-two) sata=$(sata)
other=${two%n2}n1

on 'a byte of a disk that is not named' "$virtio"
printf 'x' | dd of="$two" bs=1 seek=7654321 conv=notrunc,fsync 2>/dev/null
if is_unchanged; then said='it was not seen' code=1; verdict FAIL 'seen to be another: the control of the checksums'; else verdict ok 'seen to be another: the control of the checksums'; fi
rm /tmp/watched /tmp/seen

on 'virtio-blk' "$virtio"
refused 'not named' 'would lose .*--destroy' "$virtio"
refused 'another one is named' 'would lose .*--destroy' "$virtio" --destroy "$nvme"
allowed 'named by its path' "$virtio" --destroy "$virtio"
allowed 'named by its serial number' "$virtio" --destroy virtio
mke2fs "$virtio" >/dev/null 2>&1
refused 'a file system that --force does not name' 'to destroy that too, add .*--force' "$virtio" --destroy "$virtio"
mount -t ext4 -o ro "$virtio" /mnt
refused 'mounted' 'is mounted at /mnt' "$virtio" --destroy "$virtio" --force "$virtio"
umount /mnt
unshare -m sh -c "mount -t ext4 -o ro $virtio /mnt && echo >/tmp/mounted && exec sleep 1000" &
elsewhere=$!
until_holds test -e /tmp/mounted
refused 'mounted in another mount namespace' 'mount in another name space, has claimed it' "$virtio" --destroy "$virtio" --force "$virtio"
kill $elsewhere; wait $elsewhere 2>/dev/null
allowed 'the file system, named by --force, unmounted' "$virtio" --destroy "$virtio" --force "$virtio"
mkswap "$virtio" >/dev/null; swapon "$virtio"
refused 'swap' 'swap' "$virtio" --destroy "$virtio" --force "$virtio"
swapoff "$virtio"
fill "$virtio"
blockdev --setro "$virtio"
refused 'read-only' 'is read-only: .*blockdev --setrw' "$virtio" --destroy "$virtio"
blockdev --setrw "$virtio"
losetup /dev/loop7 "$virtio"
refused 'a loop device over it is a window' "is a window onto $virtio" /dev/loop7 --destroy /dev/loop7 --force /dev/loop7
refused 'below a loop device' 'loop7' "$virtio" --destroy "$virtio" --force "$virtio"
losetup -d /dev/loop7
mount -t tmpfs none /sys/block
refused 'a file system is mounted over /sys/block' 'cannot be checked' "$virtio" --destroy "$virtio"
umount /sys/block
allowed 'freed of all of it' "$virtio" --destroy "$virtio"

on 'SATA (AHCI), partitioned' "$sata"
printf 'n\np\n1\n\n\nw\n' | fdisk "$sata" >/dev/null 2>&1
until_holds test -e "${sata}1"
refused 'partitions that --force does not name' 'partition' "$sata" --destroy "$sata"
refused 'a partition, where its disk is named' 'partition of' "${sata}1" --destroy "$sata" --force "$sata"
allowed 'a partition, named itself' "${sata}1" --destroy "${sata}1"
mke2fs "${sata}1" >/dev/null 2>&1; mount -t ext4 -o ro "${sata}1" /mnt
refused 'the disk of a mounted partition' "${sata}1 is mounted at /mnt" "$sata" --destroy "$sata" --force "$sata"
umount /mnt
allowed 'the disk, named by --force' "$sata" --destroy "$sata" --force "$sata"

on 'NVMe below device mapper' "$nvme"
echo "0 49152 linear $nvme 0" | dmsetup create fc
refused 'below dm-linear' 'carries the mapped device' "$nvme" --destroy "$nvme" --force "$nvme"
allowed 'the mapped device' /dev/mapper/fc --destroy /dev/mapper/fc
dmsetup remove fc
printf 'secret' | cryptsetup -q luksFormat --type luks1 --pbkdf-force-iterations 1000 "$nvme" - 2>/dev/null
refused 'LUKS that --force does not name' 'LUKS|crypt' "$nvme" --destroy "$nvme"
printf 'secret' | cryptsetup luksOpen "$nvme" fc -
refused 'below an open LUKS volume' 'carries the encrypted device' "$nvme" --destroy "$nvme" --force "$nvme"
allowed 'the open LUKS volume' /dev/mapper/fc --destroy /dev/mapper/fc
cryptsetup luksClose fc
lvm pvcreate -ffy "$nvme" >/dev/null 2>&1; lvm vgcreate fcvg "$nvme" >/dev/null 2>&1; lvm lvcreate -y -Wn -L 20M -n lv fcvg >/dev/null 2>&1
refused 'below a logical volume' 'carries the LVM volume' "$nvme" --destroy "$nvme" --force "$nvme"
allowed 'the logical volume' /dev/mapper/fcvg-lv --destroy /dev/mapper/fcvg-lv
lvm vgchange -an fcvg >/dev/null 2>&1
refused 'a physical volume that --force does not name' 'LVM' "$nvme" --destroy "$nvme"
allowed 'a physical volume, named by --force' "$nvme" --destroy "$nvme" --force "$nvme"
dd if=/dev/zero of="$nvme" bs=1M count=2 2>/dev/null
printf '0 8 error\n8 49144 linear %s 8\n' "$nvme" | dmsetup create fc
refused 'signatures cannot be read (dm-error)' 'cannot be read at byte' /dev/mapper/fc --destroy /dev/mapper/fc --force /dev/mapper/fc
dmsetup remove fc

on 'NVMe, two namespaces' "$two" "$other"
refused 'a serial number that both have' 'serial number of more than one disk' "$two" --destroy nvme-two
yes | mdadm --create /dev/md0 --run --assume-clean --metadata=1.2 --level=1 --raid-devices=2 "$other" "$two" >/dev/null 2>&1
mdadm --readonly /dev/md0 2>/dev/null
refused 'a member of a RAID 1' 'carries the RAID /dev/md0' "$two" --destroy "$two" --force "$two"
mdadm --readwrite /dev/md0 2>/dev/null
allowed 'the RAID 1' /dev/md0 --destroy /dev/md0
mdadm --stop /dev/md0 >/dev/null 2>&1
refused 'a former member that --force does not name' 'RAID|md' "$two" --destroy "$two"
allowed 'a former member, named by --force' "$two" --destroy "$two" --force "$two"
finish
