# Arrays of the kernel's md over devices of a known time: what an I/O costs there is what docs/ARRAYS.md says of it. Each
# device answers after 50 ms and takes one I/O at a time, next to which what a busy guest's processor takes is little.
. /with/in-guest/check.sh
modprobe -a raid0 raid1 raid456
ms=50

# The median of an I/O's milliseconds in a run of 4 s: of a busy guest's pauses it knows nothing.
measured() { # DEVICE RW BS DEPTH
  printf '[a]\nfilename=%s\nrw=%s\nbs=%s\nioengine=io_uring\ndirect=1\niodepth=%s\nruntime=4s\ntime_based=1\n' "$1" "$2" "$3" "$4" >/tmp/job.fio
  run fourcorners run /tmp/job.fio "$1" --destroy "$1" --force "$1" --output-format json
  printf '%s\n' "$said" | tr -d '\n' | grep -o '"clat_ns"[^}]*"50.000000" *: *[0-9.]*' | sed 's/.*: *//' |
    awk '$1 > 0 { print $1 / 1e6 }' | head -n 1
}
# within WHAT SHARE MS [MOST]: whether a median of milliseconds is so many times a device's, within 15 %, or up to MOST times.
within() {
  said="measured $3 ms; $said" code=0
  if echo "$3" | awk -v times="$2" -v ms=$ms -v most="${4:-1.15}" '{ exit !($1 > 0.85 * times * ms && $1 < most * times * ms) }'
  then verdict ok "$1"; else verdict FAIL "$1"; fi
}
raid() { # LEVEL NUMBER OPTION...
  local level=$1 number=$2 disks='' disk=0
  shift 2
  while [ "$disk" -lt "$number" ]; do disks="$disks /dev/nullb$disk"; disk=$((disk + 1)); done
  # shellcheck disable=SC2086
  yes | mdadm --create /dev/md0 --run --metadata=1.2 --level="$level" --raid-devices="$number" "$@" $disks >/dev/null 2>&1
}
stop() { mdadm --stop /dev/md0 >/dev/null 2>&1; }

on 'md over null_blk of 50 ms'
modprobe null_blk nr_devices=4 gb=1 memory_backed=1 irqmode=2 completion_nsec=${ms}000000 hw_queue_depth=1 submit_queues=1
within 'one of its devices, a write: its time' 1 "$(measured /dev/nullb0 randwrite 4k 1)"
within 'one of its devices, two writes at once: one waits for the other' 2 "$(measured /dev/nullb0 randwrite 4k 2)"
raid 0 4 --chunk=4
within 'RAID 0 of four, a write: the time of one device' 1 "$(measured /dev/md0 randwrite 4k 1)"
# The guest's processor handles one part after the other, 1.6 ms each on a busy machine. One device after the other would be 4 times.
within 'RAID 0 of four, whole stripes: each device has its part at once' 1 "$(measured /dev/md0 randread 16k 1)" 1.5
stop
raid 1 2 --assume-clean --bitmap=none
within 'RAID 1, a write: both at once' 1 "$(measured /dev/md0 randwrite 4k 1)"
within 'RAID 1, two reads at once: one of each device' 1 "$(measured /dev/md0 randread 4k 2)"
stop
raid 5 4 --assume-clean --chunk=64 --bitmap=none
within 'RAID 5, a read: the time of one device' 1 "$(measured /dev/md0 randread 4k 1)"
within 'RAID 5, a small write: what it reads, then what it writes' 2 "$(measured /dev/md0 randwrite 4k 1)"
stop
rmmod null_blk
finish
