# Checkpoints of a computation that really saves its state, restart from them,
# preemption, and the site's hooks: in a DVM of two daemons on this machine.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build checkpoints

cat >here.sh <<'END'
#!/bin/sh
# Called as a remote shell: HOST COMMAND ARGUMENTS...
shift
exec "$@"
END
cat >provision.sh <<'END'
#!/bin/sh
echo "$*" >"$1.provisioned"
[ "$TROUPE_PROVISION_IMAGE" = debian12 ]
END
chmod +x here.sh provision.sh

ctl() { within "$((20 * slow))" troupe ctl "$@" --dvm saved; }

# begin_dvm: sets up.
begin_dvm() {
  : >up
  troupe up --name saved --host a:2,b:2 --remote-shell "$PWD/here.sh" \
    --hook "provision=$PWD/provision.sh" --checkpoints "$PWD/kept" \
    >up 2>up.err </dev/null &
  up=$!
  eventually 30 grep -qx 'DVM ready' up \
    || { failed "" "a DVM"; cat up.err; finish; }
}
begin_dvm

# compute FOLDER METHOD...: a job of 4 ranks on two nodes. Sets nspace.
compute() {
  rm -rf "$1"
  mkdir "$1"
  within $((60 * slow)) troupe run --dvm saved -n 4 --map-by node \
    ./checkpoints run "$@" >"$1.out" 2>&1 </dev/null &
  job=$!
  runs "$1" || { cat "$1.out"; return 1; }
}

# runs FOLDER: waits until all ranks compute. Sets nspace.
runs() {
  eventually 15 all_wrote "$1/nspace" || return 1
  nspace=$(cat "$1/nspace.0")
}

all_wrote() { [ -f "$1.0" ] && [ -f "$1.1" ] && [ -f "$1.2" ] && [ -f "$1.3" ]; }

# goes_on FOLDER ID: kills the job, starts it again, and has it end.
goes_on() {
  local old=$nspace
  ctl kill "$nspace" || return 1
  wait "$job"
  rm -f "$1"/nspace.*
  ctl restart "$2" || return 1
  runs "$1" || { echo "it does not run again"; return 1; }
  [ "$nspace" != "$old" ] || { echo "the same namespace"; return 1; }
  touch "$1/stop"
  eventually 10 all_wrote "$1/result" || { echo "it does not end"; return 1; }
  cat "$1"/result.*
  [ "$(cat "$1"/result.* | tr '\n' '|')" = \
    "restored a|restored b|restored a|restored b|" ]
}

# -- by signal, then by event --------------------------------------------------

check "J18 J30 J34" "a job declares its methods as in the example of RFC0015" \
  compute first signal event preemptible
check "J11 J13 J31 J27" "a checkpoint by the first method, a signal" \
  ctl checkpoint c1 "$nspace"
check "J10" "it is killed and goes on from its state, on the same nodes" \
  goes_on first c1
check "J10" "an unknown checkpoint is refused" status 1 ctl restart nothing
check_match "J10" "and named" 'no checkpoint "nothing"' \
  "$(ctl restart nothing 2>&1)"

check "J30" "another job has events only" compute second event preemptible alert
check "J11 J12 J26 J31" "a checkpoint by an event" ctl checkpoint c2 "$nspace"
touch second/silent.1
# The others have to reach a disk that may be busy.
check "J14" "a time-out is an error" status 124 \
  ctl checkpoint c3 "$nspace" --wait 5
check_match "J14" "that names the missing rank" "$nspace: rank 1 did not" \
  "$(cat "$TROUPE_WORK/output")"
check "J10" "from which nothing starts" status 1 ctl restart c3
rm second/silent.1
check "J10 J28" "the earlier one still works" goes_on second c2

# -- preemption ----------------------------------------------------------------

check "" "a third job" compute third preemptible alert
preempted() {
  # Those who are alerted write a file meanwhile.
  ctl preempt "$nspace" --grace 8 --then terminate || return 1
  wait "$job"
  [ -f third/alerted.0 ] && [ -f third/alerted.2 ] \
    && [ ! -e third/alerted.1 ] && [ ! -e third/alerted.3 ]
}
check "J28 J29" "a preemption alerts those who registered and then ends it" \
  preempted
check "" "a fourth job declares nothing" compute fourth
check "J18" "and is not preempted" status 1 ctl preempt "$nspace"
check "J32" "it has no checkpoint without a method" status 1 \
  ctl checkpoint c4 "$nspace"
check_match "J32" "and its processes are named" "$nspace: ranks 0-3" \
  "$(cat "$TROUPE_WORK/output")"
touch fourth/dies.3
check "J27" "a process that dies instead is a failure" status 1 \
  ctl checkpoint c4 "$nspace" --signal USR2
check_match "J27" "that is named" "$nspace: rank 3 ended" \
  "$(cat "$TROUPE_WORK/output")"
wait "$job"

# -- the site's hooks ----------------------------------------------------------

provision() {
  within $((20 * slow)) troupe run --dvm saved -n 1 \
    ./checkpoints provision "$@" 2>&1
}
check_equal "J16 J17" "nodes and an image go to the site's hook" \
  "0|n3,n4 debian12" \
  "$(provision n3,n4 debian12)|$(cat n3,n4.provisioned)"
check_equal "J16" "whose failure is told" "-1" "$(provision n5 slackware)"

# -- another DVM ---------------------------------------------------------------

check "" "a job is saved" compute fifth signal
check "J11" "in a file of this user alone" ctl checkpoint c5 "$nspace"
check_equal "J11" "that nobody else may read" 600 "$(stat -c %a kept)"
check "" "the DVM ends" within $((20 * slow)) troupe down --dvm saved
wait "$job"
wait "$up"
begin_dvm
goes_on_elsewhere() {
  rm -f fifth/nspace.*
  ctl restart c5 || return 1
  runs fifth || { echo "it does not run again"; return 1; }
  touch fifth/stop
  eventually 10 all_wrote fifth/result || { echo "it does not end"; return 1; }
  cat fifth/result.*
  [ "$(cat fifth/result.* | tr '\n' '|')" = \
    "restored a|restored b|restored a|restored b|" ]
}
check "J10 J11" "a job goes on from its state in another DVM" goes_on_elsewhere
check "J10" "and from no checkpoint that was not complete" \
  status 1 ctl restart c3
chmod 644 kept
stranger() {
  status 125 within 20 troupe up --name other --host a:1 \
    --remote-shell "$PWD/here.sh" --checkpoints "$PWD/kept" 2>said || return 1
  cat said
  grep -q "is not a file of this user alone" said
}
check "J11" "a file that others may read is not used" stranger
echo "something else" >kept.not
chmod 600 kept.not
not_ours() {
  status 1 within 20 troupe up --name other --host a:1 \
    --remote-shell "$PWD/here.sh" --checkpoints "$PWD/kept.not" 2>said || return 1
  cat said
  grep -q "no checkpoints that this version has kept" said \
    && [ "$(cat kept.not)" = "something else" ]
}
check "J11" "a file of something else is left as it is" not_ours

# -- the end -------------------------------------------------------------------

check "" "the DVM ends" within $((20 * slow)) troupe down --dvm saved
wait "$up"
clean "" "nothing is left"
finish
