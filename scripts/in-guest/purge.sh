# Purges: each way on the drives that have it, refused by those that have not, and what is left of the data.
. /with/in-guest/check.sh
nvme=$(disk nvme) four=$(disk nvme-4k) two=$(disk nvme-two) sata=$(sata) virtio=$(disk virtio)
other=${two%n2}n1
fill_all

# purge WHAT CODE PATTERN TARGET HOW
purge() { expect "$1" "$2" "$3" review "$4" --destroy "$4" --purge "$5" --methods $here/purge.toml --json; }
# Whether the first MiB, which was filled and which the review does not write, is zeros.
is_empty() { blockdev --flushbufs "$1"; [ "$(dd if="$1" bs=1M count=1 2>/dev/null | tr -d '\0' | wc -c)" = 0 ]; }
is_kept() { ! is_empty "$1"; }

on 'NVMe, one namespace' "$nvme"
holds 'before the purge it holds something: the control' is_kept "$nvme"
purge 'purge by discard' 0 '"state":"fresh"' "$nvme" discard
holds 'after it, it is empty' is_empty "$nvme"
fill "$nvme"
holds 'filled again it holds something: the control' is_kept "$nvme"
purge 'purge by nvme-format' 0 'Purged by NVMe format' "$nvme" nvme-format
holds 'after it, it is empty' is_empty "$nvme"
fill "$nvme"
mkdir -p /tmp/tools
printf '#!/bin/sh\necho "NVMe status: Access Denied" >&2\nexit 1\n' >/tmp/tools/nvme; chmod +x /tmp/tools/nvme
PATH=/tmp/tools:$PATH purge 'nvme-format that the drive refuses: said' 1 'NVMe format.* failed: .*NVMe status: Access Denied' "$nvme" nvme-format
holds 'after that, it is not empty' is_kept "$nvme"
mv /usr/sbin/nvme /usr/sbin/away
purge 'refused: nvme is not installed' 2 'nvme is not installed' "$nvme" nvme-format
mv /usr/sbin/away /usr/sbin/nvme
purge 'refused: purge by ata-secure-erase' 2 'is no ATA drive' "$nvme" ata-secure-erase
printf 'n\np\n1\n\n\nw\n' | fdisk "$nvme" >/dev/null 2>&1
until_holds test -e "${nvme}p1"
purge 'refused: nvme-format of a partition' 2 'is a partition, and NVMe format' "${nvme}p1" nvme-format

fill "$nvme"
on 'NVMe, 4Kn' "$four"
purge 'purge by nvme-format' 0 'Purged by NVMe format' "$four" nvme-format
holds 'after it, it is empty' is_empty "$four"
expect 'its blocks are of 4096 bytes still' 0 '^4096' cat /sys/block/"${four#/dev/}"/queue/logical_block_size

on 'NVMe, two namespaces'
purge 'refused: purge by nvme-format' 2 'is one of 2 namespaces of nvme' "$two" nvme-format
holds 'neither is empty' is_kept "$other"

on 'SATA (AHCI) without the security feature'
purge 'refused: purge by ata-secure-erase' 2 'has no ATA security feature' "$sata" ata-secure-erase
also_on 'SCSI (virtio-scsi)'
purge 'refused: purge by ata-secure-erase' 2 'has no ATA security feature' "$(virtio_scsi)" ata-secure-erase
also_on 'virtio-blk'
purge 'refused: purge by ata-secure-erase' 2 'is no ATA drive' "$virtio" ata-secure-erase
purge 'refused: purge by nvme-format' 2 'is no NVMe drive' "$virtio" nvme-format
finish
