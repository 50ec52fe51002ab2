# The truth of latencies: null_blk that answers after a time of its own, measured by us and by fio in turn. For each time
# and depth, medians of five: a line "latency", the device's microseconds, the depth, then ours, fio's and their ratio of
# the mean total latency (fio's lat), and the ratio of the mean completion latencies (clat).
# In no matrix, for it needs a tool more and a clock that a busy machine does not disturb:
#   scripts/guest-tests latency --tool fio --clock instructions
. /with/in-guest/check.sh
rounds=5
median() { sort -n | sed -n "$(((rounds + 1) / 2))p"; }
mean() { grep -o "\"$1\"[^}]*\"mean\" *: *[0-9.]*" /tmp/output | sed -n '1s/.*: *//p'; }

for us in 10 100 1000; do
  on "null_blk of $us us"
  modprobe null_blk nr_devices=1 gb=1 memory_backed=0 irqmode=2 completion_nsec=${us}000 hw_queue_depth=64
  for depth in 1 4 32; do
    printf '[r]\nfilename=/dev/nullb0\nrw=randread\nbs=4k\nioengine=io_uring\ndirect=1\niodepth=%s\nruntime=500ms\ntime_based=1\n' "$depth" >/tmp/job.fio
    rm -f /tmp/*.lat_ns /tmp/*.clat_ns
    for _ in $(seq $rounds); do
      for whose in ours fios; do
        case $whose in
          ours) fourcorners run /tmp/job.fio /dev/nullb0 --output-format json ;;
          fios) fio --output-format=json /tmp/job.fio ;;
        esac 2>/tmp/error | tr -d '\n' >/tmp/output
        for kind in lat_ns clat_ns; do mean $kind >>/tmp/$whose.$kind; done
      done
    done
    said="ours: $(tr '\n' ' ' </tmp/ours.lat_ns); fio's: $(tr '\n' ' ' </tmp/fios.lat_ns); $(cat /tmp/error)" code=0
    line=$(for file in ours.lat_ns fios.lat_ns ours.clat_ns fios.clat_ns; do median </tmp/$file; done | tr '\n' ' ' |
      awk -v us="$us" -v depth="$depth" 'NF == 4 { printf "latency\t%d\t%d\t%.1f\t%.1f\t%.3f\t%.3f", us, depth, $1 / 1000, $2 / 1000, $1 / $2, $3 / $4 }')
    echo "$line"
    # What a processor takes for an I/O is much of so little: for information.
    [ "$us" -ge 100 ] || continue
    # Where fio's is half as much again, most of it is the processor's time, and how near ours is says nothing of the device.
    what="mean latency at QD $depth within 5 % of fio's, and not below the device's own"
    if echo "$line" | awk -F '\t' '{ exit !($5 > 1.5 * $2) }'
    then printf 'left\t%s\t%s\n' "$device" "$what: the processor is the limit, fio's is $(echo "$line" | cut -f 5) us"
    elif echo "$line" | awk -F '\t' '{ exit !($6 > 0.95 && $6 < 1.05 && $4 >= $2) }'
    then verdict ok "$what"
    else verdict FAIL "$what"; fi
  done
  rmmod null_blk
done
exit $failed
