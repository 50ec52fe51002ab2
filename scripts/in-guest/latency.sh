# The truth of latencies: null_blk that answers after a time of its own, measured by us and by fio in turn. For each time and
# depth, medians of five: a line "latency", microseconds of the device, depth, ours, fio's, their ratio.
. /with/in-guest/check.sh
seconds=${SECONDS_EACH:-2} rounds=5
median() { sort -n | sed -n "$(((rounds + 1) / 2))p"; }
mean() { grep -o '"clat_ns"[^}]*"mean" *: *[0-9.]*' | sed -n '1s/.*: *//p'; }

for us in ${LATENCIES:-100 1000}; do
  on "null_blk of $us us"
  modprobe null_blk nr_devices=1 gb=1 memory_backed=0 irqmode=2 completion_nsec=${us}000 hw_queue_depth=64
  for depth in ${DEPTHS:-1 4 32}; do
    printf '[r]\nfilename=/dev/nullb0\nrw=randread\nbs=4k\nioengine=io_uring\ndirect=1\niodepth=%s\nruntime=%s\ntime_based=1\n' "$depth" "$seconds" >/tmp/job.fio
    : >/tmp/ours; : >/tmp/fios
    for _ in $(seq $rounds); do
      fourcorners run /tmp/job.fio /dev/nullb0 --output-format json | tr -d '\n' | mean >>/tmp/ours
      fio --output-format=json /tmp/job.fio | tr -d '\n' | mean >>/tmp/fios
    done
    said="ours: $(tr '\n' ' ' </tmp/ours); fio's: $(tr '\n' ' ' </tmp/fios)" code=0
    line=$(echo "$(median </tmp/ours) $(median </tmp/fios)" | awk -v us="$us" -v depth="$depth" '{ printf "latency\t%d\t%d\t%.1f\t%.1f\t%.3f", us, depth, $1 / 1000, $2 / 1000, $1 / $2 }')
    echo "$line"
    if echo "$line" | awk -F '\t' '{ exit !($6 > 0.95 && $6 < 1.05 && $4 >= $2) }'
    then verdict ok "mean latency at QD $depth within 5 % of fio's, and not below the device's own"
    else verdict FAIL "mean latency at QD $depth within 5 % of fio's, and not below the device's own"; fi
  done
  rmmod null_blk
done
exit $failed
