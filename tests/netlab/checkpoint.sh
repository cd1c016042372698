# A computation over two nodes is saved, dies, and goes on where it was.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "J10 J11"
compile checkpoints
lab 2
folder=$PWD/saved
mkdir "$folder"
cat >save.sh <<END
#!/bin/sh
# A site's hook: ID comes behind its own arguments.
kill -0 "\$TROUPE_CHECKPOINT_PID" || exit 1
echo "\$1 \$2 on \$(hostname)" >"$folder/hook.\$TROUPE_CHECKPOINT_RANK"
END
cat >restore.sh <<END
#!/bin/sh
echo "\$TROUPE_CHECKPOINT_ID: \$* on \$(hostname)" >"$folder/restored.\$PMIX_RANK"
END
chmod +x save.sh restore.sh
need_dvm n1:2,n2:2 --hook "checkpoint=$PWD/save.sh quickly" \
  --hook "restart=$PWD/restore.sh"

ctl() {
  local command=$1
  shift
  within $((30 * slow)) "$netlab" exec n1 \
    troupe ctl "$command" --dvm "$dvm_name" "$@"
}

all_wrote() { [ -f "$1.0" ] && [ -f "$1.1" ] && [ -f "$1.2" ] && [ -f "$1.3" ]; }
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

# -- processes that know nothing of it, by the site's hooks -------------------

mesh_job -n 2 sh -c "echo \$PMIX_NAMESPACE >$folder/sleeps.\$PMIX_RANK; sleep 60" \
  >sleep.out 2>&1 </dev/null &
job=$!
both_sleep() { [ -s "$folder/sleeps.0" ] && [ -s "$folder/sleeps.1" ]; }
eventually 15 both_sleep
check "J11" "a hook saves processes that have no method, where they are" \
  ctl checkpoint h1 "$(cat "$folder/sleeps.0")"
check_equal "J11" "it gets the id and the process" \
  "quickly h1 on n1|quickly h1 on n2" \
  "$(cat "$folder/hook.0")|$(cat "$folder/hook.1")"
check "J10" "a hook restores them" ctl restart h1
wait "$job"
both_restored() { [ -s "$folder/restored.0" ] && [ -s "$folder/restored.1" ]; }
eventually 10 both_restored
check_match "J10" "with their own command" '^h1: sh -c .*sleep 60 on n2$' \
  "$(cat "$folder/restored.1")"

check "" "the DVM ends" dvm_down
finish
