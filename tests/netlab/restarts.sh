# Processes of a job over three nodes are started again where they ran.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "RST-1 RST-2"
compile restarts
lab 3
need_dvm n1:1,n2:1,n3:1

# gives STATUS OPTION... PROGRAM...: a job of three nodes that ends with it.
gives() {
  local expected=$1 outcome=0
  shift
  in_dvm run --map-by node -n 3 "$@" >"$TROUPE_WORK/job.out" \
    2>"$TROUPE_WORK/job.err" </dev/null || outcome=$?
  cat "$TROUPE_WORK/job.out" "$TROUPE_WORK/job.err"
  [ "$outcome" -eq "$expected" ]
}
lines() { [ "$(grep -Ecx -- "$2" "$TROUPE_WORK/job.out")" -eq "$1" ]; }

comes_back() {
  gives 0 --max-restarts 2 "$PWD/restarts" dies 2 && lines 1 'rank 1 lives 0' \
    && lines 1 'rank 1 lives 1' && lines 1 'rank 1 lives 2' \
    && lines 3 'rank [012] sees life 2'
}
check "RST-1" "who is killed comes back, for processes of all nodes" comes_back
check "RST-1" "one failure too many ends the job" \
  gives 137 --max-restarts 1 "$PWD/restarts" dies 2

where="$PWD/where.sh"
cat >"$where" <<'END'
#!/bin/sh
echo "life ${TROUPE_RESTARTS:-0} of $PMIX_RANK on $(hostname)"
[ "${TROUPE_RESTARTS:-0}" -ge 1 ]
END
chmod +x "$where"
same_nodes() {
  gives 0 --max-restarts 1 "$where" || return 1
  for rank in 0 1 2; do
    for life in 0 1; do
      lines 1 "life $life of $rank on n$((rank + 1))" || return 1
    done
  done
}
check "RST-1" "each is started again on its node" same_nodes

in_dvm run --map-by node -n 3 --max-restarts 0 --wdir "$PWD" "$PWD/restarts" stays \
  >stays.out 2>stays.err </dev/null &
job=$!
said() { grep -qx -- "$1" stays.out; }
all_say() { said "rank 0 lives $1" && said "rank 1 lives $1" && said "rank 2 lives $1"; }
check "RST-2" "a job over three nodes" eventually 20 all_say 0
name=$(in_dvm jobs --json | grep -o '"nspace": *"[^"]*"' | head -n 1 \
  | sed 's/.*"\([^"]*\)"$/\1/')
in_place() {
  within $((30 * slow)) "$netlab" exec n1 \
    troupe ctl restart --dvm "$dvm_name" - "$1" --in-place
}
check "RST-2" "is restarted in its place" in_place "$name"
check "RST-2" "and lives again on all of them" eventually 20 all_say 1
touch stop
wait "$job"
check_equal "RST-2" "and ends well" 0 $?

check "" "the DVM ends" dvm_down
finish
