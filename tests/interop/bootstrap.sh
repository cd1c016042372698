# A DVM that nobody launches: daemons that read one file, all on this machine, so
# that each is told by --node which of its nodes it is.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

port=$(free_port)
# Where lanes go on this machine.
root=$(hostname -I | cut -d' ' -f1)
root=${root:-127.0.0.1}
cat >nodes.conf <<END_OF_FILE
# One file for all nodes.
ClusterName=cluster
DVMControllerHost=$root
DVMNodes=$root,b,c
DVMPort=$port
DVMRadix=2
AuthorityFile=$TROUPE_WORK/authority
END_OF_FILE

# tool COMMAND...: a command that has to answer soon.
tool() {
  within "$((20 * slow))" troupe "$@"
}

# daemon NAME NODE: starts one as a service manager does; its process is in
# $NAME_pid.
daemon() {
  : >"$TROUPE_WORK/$1.out" # What is waited for is what this one says.
  trouped --bootstrap nodes.conf --node "$2" >"$TROUPE_WORK/$1.out" \
    2>"$TROUPE_WORK/$1.err" </dev/null &
  eval "$1_pid=$!"
}

says() { tail -n 5 "$TROUPE_WORK/$1.out" "$TROUPE_WORK/$1.err"; }

ready() {
  eventually 30 grep -qx "DVM ready" "$TROUPE_WORK/$1.out" || { says "$1"; return 1; }
}

# ended PID: passes if the process is gone within the time.
ended() {
  eventually 20 sh -c "! kill -0 $1"
}

states() {
  tool nodes --json | /usr/bin/python3 -c '
import json, sys
print("|".join(x["name"] + " " + x["state"] for x in json.load(sys.stdin)["nodes"]))'
}

check "DVM-6" "an authority is made once" tool authority --name cluster authority
check "DVM-6" "and is not overwritten" status 1 tool authority --name cluster authority

# -- in any order --------------------------------------------------------------

daemon b b
sleep 1
check "DVM-6" "a daemon that comes first waits for its root" kill -0 "$b_pid"
daemon root "$root"
check_equal "DVM-6" "the root serves before all have come" \
  "$root live" "$(eventually 20 tool nodes; states | cut -d'|' -f1)"
daemon c c
check "O1" "a DVM of daemons that nobody launched is ready" ready root
check_equal "DVM-6" "all nodes of the file are its nodes" \
  "$root live|b live|c live" "$(states)"
check_equal "DVM-6" "a job on all of them" "$root b c" \
  "$(within $((60 * slow)) troupe run --dvm cluster --map-by node -n 3 \
    sh -c 'echo $PMIX_HOSTNAME' </dev/null | sort | xargs)"
if command -v mpicc >/dev/null; then
  build mpi_ring
  export OMPI_MCA_btl=tcp,self OMPI_MCA_pml=ob1
  mpi() {
    within $((60 * slow)) troupe run --dvm cluster --map-by node "$@" </dev/null \
      | grep -qx "size $2: hello right, ring right, allreduce right"
  }
  check "DVM-6" "Open MPI on all of them" mpi -n 3 ./mpi_ring
else
  skip "DVM-6" "Open MPI on all of them" "there is no mpicc"
fi

# -- daemons come and go -------------------------------------------------------

kill -TERM "$c_pid"
check "DVM-6" "a daemon that is told to end does" ended "$c_pid"
check "DVM-6" "and is no node any more" eventually 20 \
  sh -c 'troupe nodes | grep -w c | grep -Eqw "left|lost"'
check "DVM-6" "jobs run on the others" within $((60 * slow)) \
  troupe run --dvm cluster --map-by node -n 2 true
daemon c c
check "DVM-6" "it comes back as a new incarnation" eventually 30 \
  sh -c 'troupe nodes | grep -w c | grep -qw live'
check_equal "DVM-6" "and takes work again" "$root b c" \
  "$(within $((60 * slow)) troupe run --dvm cluster --map-by node -n 3 \
    sh -c 'echo $PMIX_HOSTNAME' </dev/null | sort | xargs)"
check "DVM-6" "down ends it" tool down
for x in root b c; do
  eval "check '' 'the daemon of $x ends' ended \$${x}_pid"
done
clean "DVM-6" "nothing is left of it"

# -- up --bootstrap ------------------------------------------------------------

troupe up --bootstrap nodes.conf --report-uri "$TROUPE_WORK/uri" \
  >"$TROUPE_WORK/up.out" 2>"$TROUPE_WORK/up.err" </dev/null &
up_pid=$!
daemon b b
daemon c c
check "DVM-6" "troupe up is a root for such daemons, too" ready up
check_match "DVM-6" "its URI is in a file" '^cluster\.0;tcp4://' "$(cat uri)"
check_equal "DVM-6" "a job on all of them" "$root b c" \
  "$(within $((60 * slow)) troupe run --dvm cluster --map-by node -n 3 \
    sh -c 'echo $PMIX_HOSTNAME' </dev/null | sort | xargs)"
check "DVM-6" "down ends it" tool down --dvm cluster
for x in up b c; do
  eval "check '' 'the process of $x ends' ended \$${x}_pid"
done
clean "DVM-6" "nothing is left of it"

# -- bad input -----------------------------------------------------------------

# refuses STATUS REGEX COMMAND...: one line, that status.
refuses() {
  local expected=$1 regex=$2 outcome=0
  shift 2
  within "$((30 * slow))" "$@" >"$TROUPE_WORK/said" 2>&1 </dev/null || outcome=$?
  cat "$TROUPE_WORK/said"
  [ "$outcome" -eq "$expected" ] || { echo "status $outcome"; return 1; }
  [ "$(wc -l <"$TROUPE_WORK/said")" -eq 1 ] || { echo "not one line"; return 1; }
  grep -Eq "$regex" "$TROUPE_WORK/said"
}

# variant NAME SED...: the file with a change.
variant() {
  local name=$1
  shift
  sed "$@" nodes.conf >"$name"
}

check "X48" "a file that is not there" refuses 125 "cannot read nowhere" \
  trouped --bootstrap nowhere
variant bad.conf 's/^DVMPort=.*/DVMPort=no/'
check "X48" "an error in it names its place" \
  refuses 1 "bad.conf, line 5, column 9: 'no' is no port" \
  trouped --bootstrap bad.conf
check "X48" "up says the same" refuses 1 "^troupe up: bad.conf, line 5" \
  troupe up --bootstrap bad.conf
check "DVM-7" "a node that is not in it" refuses 1 "does not name this node, d;" \
  trouped --bootstrap nodes.conf --node d
check "DVM-7" "up elsewhere than on the controller" \
  refuses 1 "$root the controller, and this node is b; here, run trouped" \
  troupe up --bootstrap nodes.conf --node b
check "DVM-7" "hosts and a file at once" refuses 2 "excludes" \
  troupe up --bootstrap nodes.conf --host a
variant none.conf '/^AuthorityFile/d'
check "DVM-7" "no authority" refuses 1 "names no authority; make one by troupe" \
  trouped --bootstrap none.conf --node b
variant other.conf 's/^ClusterName=.*/ClusterName=other/'
check "DVM-7" "the authority of another DVM" \
  refuses 1 "authority of cluster, and ClusterName is other" \
  trouped --bootstrap other.conf --node b
cp authority open
chmod 644 open
variant open.conf 's/^AuthorityFile=.*/AuthorityFile=open/'
check "DVM-7" "an authority that others can read" refuses 125 "open to others" \
  trouped --bootstrap open.conf --node b
variant far.conf 's/^DVMControllerHost=.*/DVMControllerHost=no.such.host.invalid/'
check "DVM-7" "a controller without an address" \
  refuses 125 "no.such.host.invalid has no address" \
  trouped --bootstrap far.conf --node b
check "DVM-7" "a wrong setting, at the root" refuses 2 "no setting \"events.histroy" \
  trouped --bootstrap nodes.conf --node "$root" --set events.histroy=1
check "DVM-7" "and elsewhere" refuses 2 "no setting \"events.histroy" \
  trouped --bootstrap nodes.conf --node b --set events.histroy=1
variant plain.conf '$aInsecure=perhaps'
check "DVM-7" "what is neither yes nor no" refuses 1 "Insecure=perhaps" \
  trouped --bootstrap plain.conf --node b
/usr/bin/python3 -c "
import socket, time
s = socket.socket(socket.AF_INET6)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(('::', $port))
s.listen()
time.sleep(60)" &
holder=$!
eventually 10 /usr/bin/python3 -c "
import socket
socket.create_connection(('$root', $port))"
check "DVM-7" "a port that is taken" status 125 within $((30 * slow)) \
  trouped --bootstrap nodes.conf --node "$root"
check_match "DVM-7" "is named, with what to do" \
  "on any network, at port $port; see ss" "$(cat "$TROUPE_WORK/output")"
kill "$holder"
wait "$holder"

clean "DVM-6" "nothing is left at the end"
finish
