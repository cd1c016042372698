# Two kinds of lanes: daemons of one machine have UNIX sockets beside TCP. Traffic rides
# these, goes on over the others when they are cut, and loses nothing.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "O5 O12 O14 O16 L3"
compile stream
reason=$(/usr/bin/python3 "$lab_programs/cut_lanes.py" check 2>&1) || {
  skip "O5 O14" "sockets of daemons that are cut" "$reason"
  finish
}
lab 2 1
python=/usr/bin/python3
limit=120
cat >here.sh <<'END'
#!/bin/sh
# Called as a remote shell: HOST COMMAND ARGUMENTS...
shift
exec "$@"
END
chmod +x here.sh

# machine_up [OPTION]...: a DVM of a root and two daemons, all on the first node. Sets
# `everyone`, their processes.
machine_up() {
  : >"$TROUPE_WORK/dvm.out"
  background n1 troupe up --name "$dvm_name" --host n1:2,a:2,b:2 \
    --remote-shell "$PWD/here.sh" "$@" >"$TROUPE_WORK/dvm.out" 2>"$TROUPE_WORK/dvm.err"
  dvm_root=$background_pid
  eventually 30 dvm_is_ready || { dvm_says; return 1; }
  # Those of the DVM before may still be about to end.
  eventually 5 found_everyone || { echo "processes: $everyone"; return 1; }
}
found_everyone() {
  everyone=$(processes n1 trouped; processes n1 troupe)
  [ "$(wc -w <<<"$everyone")" -eq 3 ]
}

# kinds_are KINDS: the kinds of the usable lanes that the root has to each daemon.
kinds_are() {
  local found
  found=$(in_dvm net --json) || return
  "$python" - "$1" 3<<<"$found" <<'END' || { in_dvm net; return 1; }
import json, os, sys
nodes = json.load(os.fdopen(3))["nodes"]
peers = [x for node in nodes if node["rank"] == 0 for x in node["peers"]]
kinds = [" ".join(sorted({y["kind"] for y in x["lanes"] if y["usable"]}))
         for x in peers]
print(kinds)
sys.exit(set(kinds) != {sys.argv[1]})
END
}

streamed() {
  cat "$TROUPE_WORK/stream.out"
  [ "$(grep -c "$1 received, 0 lost, 0 duplicated, 0 reordered" \
    "$TROUPE_WORK/stream.out")" -eq 2 ]
}

# streams_while_cut KIND PAUSE_MS COUNT: a stream from one daemon's process to the other
# ones', while lanes of a kind are cut again and again; five at least.
streams_while_cut() {
  local outcome=0 cutter
  # shellcheck disable=SC2086
  "$python" "$lab_programs/cut_lanes.py" "$1" "$2" $everyone >cuts 2>&1 &
  cutter=$!
  mesh_job -n 3 ./stream "$3" 10 >"$TROUPE_WORK/stream.out" 2>&1 || outcome=$?
  kill "$cutter"
  wait "$cutter"
  echo "status $outcome, cut: $(cat cuts)"
  streamed "$3" && [ "$outcome" -eq 0 ] && [ "$(cat cuts)" -ge 5 ]
}

# -- both kinds ----------------------------------------------------------------

check "O5" "a DVM of three daemons on one machine" machine_up
dvm_is_ready || finish
check "O5 O12" "lanes of both kinds between them" eventually 5 kinds_are "tcp unix"
check_match "O5" "net says of what kind a lane is" \
  '^ +1  a +unix +unix +@troupe-lane[.0-9a-f]+ +@troupe-lane[.0-9a-f]+ +yes ' \
  "$(in_dvm net)"
check "O14 O5" "unix lanes are cut all the time: the stream goes on over TCP" \
  streams_while_cut unix 20 10000
check "O14 O5" "they come back" eventually 10 kinds_are "tcp unix"
check "O14 O5" "TCP is cut all the time: the stream goes on over unix lanes" \
  streams_while_cut tcp 20 10000
check "O14 O5" "it comes back" eventually 10 kinds_are "tcp unix"
check "O14 O5" "unix lanes are cut now and then, and taken again in between" \
  streams_while_cut unix 500 20000
check "L5" "nobody was lost" node_is_live a
check_equal "L5" "nor anybody else" 3 "$(in_dvm nodes | grep -cw live)"

# -- strangers -----------------------------------------------------------------

name=$(on n1 sed -n 's/.* \(@troupe-lane[.0-9a-f]*\)$/\1/p' /proc/net/unix | head -n 1)
# turned_away USER: the daemon closes before it says anything.
turned_away() {
  within 10 "$netlab" exec n1 setpriv --reuid "$1" --clear-groups "$python" -c '
import socket, sys
with socket.socket(socket.AF_UNIX) as x:
    x.connect("\0" + sys.argv[1][1:])
    try:
        x.sendall(b"let me in\n" * 100)
        got = x.recv(100)
    except (BrokenPipeError, ConnectionResetError):
        got = b""
    print(len(got), "bytes")
    # An alert of TLS is all that anybody is told.
    sys.exit(len(got) > int(sys.argv[2]))' "$name" "$2"
}
check "X36" "another user is turned away without a word" turned_away 65534 0
check "X36" "so is the same one without a key, with an alert at most" \
  turned_away "$(id -u)" 7
check "X36" "the DVM minds neither" mesh_job -n 3 true
check "O18" "down" dvm_down
check "O18" "nothing is left on the machine" nothing_after 5 n1
no_name() { ! on n1 grep -q '@troupe-lane' /proc/net/unix; }
check "O18" "nor any name of a socket" eventually 5 no_name

# -- chosen kinds --------------------------------------------------------------

check "O5" "--lanes tcp" machine_up --lanes tcp
check "O5 O16" "no lane is of another kind" eventually 5 kinds_are tcp
check "O5" "down again" dvm_down
check "O5" "--lanes unix" machine_up --lanes unix
check "O5 O16" "no lane is of another kind then, either" eventually 5 kinds_are unix
check "O5" "and jobs run" mesh_job -n 3 true
check "O5" "and down" dvm_down
check_match "L4" "a kind that there is not is refused" 'no lanes of kind "udp"' \
  "$(on n1 troupe up --name bad --host n1,a --lanes tcp,udp 2>&1 </dev/null)"
printf '%s\n' ClusterName=c DVMControllerHost=n1 DVMNodes=n1,n2 DVMPort=7817 \
  AuthorityFile=none DVMLanes=unix >"$TROUPE_WORK/unix.conf"
check_match "L4" "nor does a bootstrap file leave out TCP" 'DVMLanes has no tcp' \
  "$(on n1 trouped --bootstrap "$TROUPE_WORK/unix.conf" 2>&1 </dev/null)"

# -- another network namespace -------------------------------------------------

check "O16 L3" "daemons that do not share a network namespace" dvm_up n1:2,n2:2
check "O16 L3" "have no unix lanes, though they offer some" eventually 5 kinds_are tcp
offers() { in_dvm net --json | grep -q '"address": *"@troupe-lane'; }
no_trouble() { ! in_dvm net --json | grep -q trouble; }
check "O16 L3" "each says where it would take them" offers
check "O16" "and nothing is said of that" no_trouble
dvm_down >/dev/null 2>&1
finish
