# A computation over two nodes is saved, dies, and goes on where it was.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "J10 J11"
compile checkpoints
lab 2
need_dvm n1:2,n2:2

ctl() {
  local command=$1
  shift
  within $((30 * slow)) "$netlab" exec n1 \
    troupe ctl "$command" --dvm "$dvm_name" "$@"
}

all_wrote() { [ -f "$1.0" ] && [ -f "$1.1" ] && [ -f "$1.2" ] && [ -f "$1.3" ]; }
folder=$PWD/saved
mkdir "$folder"
mesh_job -n 4 "$PWD/checkpoints" run "$folder" event >job.out 2>&1 </dev/null &
job=$!
check "J30" "a job over two nodes declares its method on each" \
  eventually 15 all_wrote "$folder/nspace"
nspace=$(cat "$folder/nspace.0")
check "J11 J26 J27" "all ranks save their state" ctl checkpoint c1 "$nspace"

dies() {
  kill -9 "$(processes n2 checkpoints | head -n 1)"
  wait "$job"
  [ $? -eq 137 ]
}
check "" "a process of the other node dies, and the job with it" dies

goes_on() {
  rm -f "$folder"/nspace.*
  ctl restart c1 || return 1
  eventually 15 all_wrote "$folder/nspace" || return 1
  touch "$folder/stop"
  eventually 10 all_wrote "$folder/result" || return 1
  cat "$folder"/result.*
  [ "$(cat "$folder"/result.* | tr '\n' '|')" = \
    "restored n1|restored n2|restored n1|restored n2|" ]
}
check "J10" "it goes on from its state, each rank where it was" goes_on

check "" "the DVM ends" dvm_down
finish
