# Hundreds of processes on one node, and a thousand: the soft limit of open files holds
# nobody up.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build dies
troupe=$TROUPE_BIN/troupe

for n in 190 220 230; do
  check "FIT-2" "a soft limit of 1024 holds nobody up: $n ranks" \
    bash -c "ulimit -Sn 1024 && exec timeout $((120 * slow)) \
      '$troupe' run --oversubscribe -n $n ./dies nobody"
done
hard=$(ulimit -Hn)
if [ "$hard" = unlimited ] || [ "$hard" -ge 8192 ]; then
  check "FIT-2" "1,000 ranks run on one node" \
    bash -c "ulimit -Sn 1024 && exec timeout $((120 * slow)) \
      '$troupe' run --oversubscribe -n 1000 /bin/true"
  check "FIT-2" "1,000 clients of PMIx, with a fence" \
    bash -c "ulimit -Sn 1024 && exec timeout $((300 * slow)) \
      '$troupe' run --oversubscribe -n 1000 ./dies nobody"
else
  skip "FIT-2" "1,000 ranks on one node" "the hard limit of files is $hard"
fi

clean "FIT-3" "nothing is left of all those"
finish
