# Signals to launchers reach the processes on all nodes, and whatever of Troupe is
# killed leaves no process of a job on any node.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "SIG-1 SIG-5"
lab 2 1
need_dvm n1:2,n2:2

cat >listener.sh <<'SCRIPT'
#!/bin/sh
for x in USR1 USR2; do trap "echo got $x" $x; done
echo ready
while :; do sleep 0.05; done
SCRIPT
cat >family.sh <<'SCRIPT'
#!/bin/sh
sleep 995 &
setsid sleep 996 &
sh -c 'sleep 998 & wait' &
trap '' TERM HUP INT
echo ready
while :; do sleep 0.05; done
SCRIPT
chmod +x listener.sh family.sh

# says COUNT LINE: whether COUNT lines of the job's output are this.
says() { [ "$(grep -cx -- "$2" "$TROUPE_WORK/job")" -eq "$1" ]; }

# begin PROGRAM: a job of 4 on both nodes; `launcher` is its `troupe run`.
begin() {
  : >"$TROUPE_WORK/job"
  before=$(processes n1 troupe | sort)
  background n1 troupe run --dvm "$dvm_name" --map-by node --oversubscribe -n 4 "$PWD/$1" \
    >"$TROUPE_WORK/job" 2>"$TROUPE_WORK/job.err"
  eventually 30 says 4 ready || { cat "$TROUPE_WORK/job.err"; return 1; }
  launcher=$(processes n1 troupe | sort | comm -13 <(echo "$before") - | head -n 1)
  [ -n "$launcher" ]
}

# no_family NODE...: whether nothing of family.sh runs there; says what does.
no_family() {
  local node pid left=0
  for node; do
    for pid in $(processes "$node"); do
      case $(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline") in
        sleep\ 99?* | */family.sh*) echo "$node: $pid"; left=1 ;;
      esac
    done
  done
  return "$left"
}

reaches() {
  begin listener.sh || return 1
  kill -s USR1 "$launcher"
  eventually 20 says 4 "got USR1" || return 1
  kill -s USR2 "$launcher"
  eventually 20 says 4 "got USR2" || return 1
  kill -s TERM "$launcher"
  eventually 20 ended "$launcher"
}
check "SIG-1" "2 nodes: signals to a launcher reach all processes" reaches

killed_launcher() {
  begin family.sh || return 1
  kill -s KILL "$launcher"
  eventually 10 no_family n1 n2
}
check "SIG-5" "2 nodes: a killed launcher leaves nothing" killed_launcher

killed_daemon() {
  begin family.sh || return 1
  local start
  start=$(seconds_now)
  kill -s KILL "$(daemon n2)"
  eventually 5 no_family n2 || return 1
  echo "n2 is free after $(since "$start") s"
  eventually 30 no_family n1
}
check "SIG-5" "a killed daemon leaves nothing on its node" killed_daemon
grep -h 'is free' "$TROUPE_WORK/output"

killed_root() {
  begin family.sh || return 1
  kill -s KILL "$(processes n1 troupe | while read -r pid; do
    tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q '^troupe up' && echo "$pid"
  done | head -n 1)"
  eventually 5 no_family n1
}
check "SIG-5" "a killed root leaves nothing on its node" killed_root
finish
