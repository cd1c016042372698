# `troupe doctor`: this node, other nodes as a root would start daemons there, what is
# wrong with them, and what to do about it. All nodes are this machine.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

cd "$TROUPE_WORK" || exit 1
export HOME=$TROUPE_WORK/home XDG_CONFIG_HOME=$TROUPE_WORK/config
mkdir -p "$HOME"

# A remote shell: HOST COMMAND ARGUMENTS... Some nodes have something of their own.
cat >here.sh <<'END'
#!/bin/sh
host=$1
shift
case $host in
  few) ulimit -n 100 ;;
  small) ulimit -Sv 120000 ;;
  greets) echo "Welcome to $host" ;;
  refuses) echo "me@$host: Permission denied (publickey)." >&2; exit 255 ;;
  lacks) exec /nowhere/trouped --probe ;;
  hangs) exec sleep 1000 ;;
  settles) mkdir -p "$XDG_CONFIG_HOME.$host/troupe"
    echo "nonsense = 1" >"$XDG_CONFIG_HOME.$host/troupe/troupe.toml"
    export XDG_CONFIG_HOME="$XDG_CONFIG_HOME.$host" ;;
  otherkey) exec unshare -m sh "${0%/*}/with_munge.sh" "${0%/*}/other.key" "$@" ;;
  old) echo "The following argument was not expected: --probe" >&2; exit 109 ;;
  late) export LD_PRELOAD="$FAKETIME_LIBRARY" FAKETIME=+3d \
    FAKETIME_DONT_FAKE_MONOTONIC=1 DONT_FAKE_MONOTONIC=1 NO_FAKE_STAT=1 ;;
esac
exec "$@"
END
chmod +x here.sh
cat >with_munge.sh <<'END'
# usage: with_munge.sh KEY COMMAND...: where munge runs with a key of that file; without it
# if there is no such file.
mount -t tmpfs none /run && mkdir -p /run/munge || exit 1
key=$1
munged=
shift
if [ -e "$key" ]; then
  /usr/sbin/munged --foreground --force --key-file="$key" \
    --socket=/run/munge/munge.socket.2 --pid-file=/run/munge/pid \
    --log-file=/run/munge/log --seed-file=/run/munge/seed >/dev/null 2>&1 </dev/null &
  munged=$!
  until [ -S /run/munge/munge.socket.2 ]; do sleep 0.05; done
fi
"$@"
status=$?
if [ -n "$munged" ]; then
  kill "$munged"
  wait "$munged"
fi
exit "$status"
END
FAKETIME_LIBRARY=$(find /usr/lib* -name libfaketimeMT.so.1 2>/dev/null | head -n 1)
export FAKETIME_LIBRARY

# doctor [OPTION]...: its findings are in `said`, its status is the result. The command in
# `around` runs it, if there is one.
around=()
doctor() {
  within "$((60 * slow))" ${around[@]+"${around[@]}"} troupe doctor --remote-shell "$PWD/here.sh" "$@" >said \
    2>said.err </dev/null
}

# findings [OPTION]...: a line `NODE LEVEL CHECK TEXT -> REMEDY` for each finding.
findings() {
  doctor --json "$@"
  cat said.err
  /usr/bin/python3 -c '
import json
for node in json.load(open("said"))["nodes"]:
    for x in node["findings"]:
        print(node["name"], x["level"], x["check"], x["text"], "->", x["remedy"])'
}
errors() { grep -c ' error ' <<<"$1"; }

# -- this node -------------------------------------------------------------------

doctor
check_match "OPS-D1" "this node is looked at" \
  "^$(hostname) \(this node\): Troupe [0-9.]+, [0-9]+ processors?, Linux $(uname -r)" \
  "$(cat said)"
check_match "OPS-D1" "with counts at the end" \
  '^1 node: [0-9]+ errors?, [0-9]+ warnings?, [0-9]+ notes?$' "$(cat said)"
check_equal "OPS-D1" "nothing goes to standard error" "" "$(cat said.err)"
few() { bash -c "ulimit -n 100; exec troupe doctor" >said 2>&1 </dev/null; }
check "OPS-D4" "too few descriptors are an error" status 1 few
check_match "OPS-D4" "with the value and the remedy" \
  'limits: the hard limit of open files \(ulimit -Hn\) is 100:' "$(cat said)"
check_match "OPS-D4" "the remedy has a file" 'limits\.conf' "$(cat said)"
check_match "OPS-D4" "a TMPDIR that is not there" "error directory .*/gone: No such file" \
  "$(TMPDIR=$PWD/gone findings)"
check_match "OPS-D6" "an interface for Open MPI that is not there" \
  'error mpi OMPI_MCA_btl_tcp_if_include=ib7 \(environment\)' \
  "$(OMPI_MCA_btl_tcp_if_include=ib7 findings)"
mkdir -p "$HOME/.openmpi"
echo 'btl = tcp,vader' >"$HOME/.openmpi/mca-params.conf"
check_match "OPS-D6" "settings in a file of Open MPI" \
  "error mpi OMPI_MCA_btl=tcp,vader \($HOME/.openmpi/mca-params.conf\)" "$(findings)"
rm "$HOME/.openmpi/mca-params.conf"
check "OPS-D1" "a mistake in the command line" status 2 doctor --host 'n['
check "OPS-D1" "an option that there is not" status 2 doctor --nothing
unwritten() { within "$((60 * slow))" troupe doctor >/dev/full 2>said.err </dev/null; }
check "OPS-D1" "findings that cannot be written are no errors" status 74 unwritten

# -- other nodes -----------------------------------------------------------------

found=$(findings --host a,b,greets)
check_equal "OPS-D2" "nodes that are well have no errors" 0 "$(errors "$found")"
check_equal "OPS-D2" "all of them have answered" "True True True True" \
  "$(/usr/bin/python3 -c '
import json
print(*(x["answered"] for x in json.load(open("said"))["nodes"]))')"
check_equal "OPS-D5" "and nobody is behind a firewall" "" \
  "$(grep -E '^[^ ]+ [a-z]+ ports ' <<<"$found")"
found=$(findings --host a,few,small,refuses,lacks,settles,old)
check "OPS-D2" "nodes with something wrong fail it" status 1 \
  doctor --host a,refuses
check_match "OPS-D2" "a node that refuses" \
  '^refuses error ssh me@refuses: Permission denied.*ssh-copy-id refuses' "$found"
check_match "OPS-D2" "a node without the program" '^lacks error program .*--launch-agent' \
  "$found"
check_match "OPS-D2" "a node with another release" '^old error version ' "$found"
check_match "OPS-D4" "a node with few descriptors" '^few error limits .* is 100:' "$found"
if [ -z "${TROUPE_SANITIZER:-}" ]; then
  check_match "OPS-D4" "a node with little memory" '^small error program the limit of memory .ulimit -v. is 120000 KiB' "$found"
else
  skip "OPS-D4" "a node with little memory" "sanitizers need terabytes of addresses"
fi
check_match "OPS-D4" "a node with a wrong file of settings" \
  '^settles error settings .*troupe\.toml:1: ' "$found"
check_equal "OPS-D2" "one that is well beside them" "" "$(grep '^a error' <<<"$found")"
begin=$EPOCHSECONDS
found=$(findings --host a,hangs --timeout 2)
check_match "OPS-D2" "a node that hangs" '^hangs error ssh no answer within' "$found"
check "OPS-D2" "holds nobody up" test "$((EPOCHSECONDS - begin))" -lt "$((20 * slow))"
if [ -n "$FAKETIME_LIBRARY" ] && [ -z "${TROUPE_SANITIZER:-}" ]; then
  found=$(findings --host late)
  check_match "OPS-D3" "a clock that is days ahead" \
    '^late error clock its clock is at least (2\.9|3\.0) days ahead' "$found"
else
  skip "OPS-D3" "a clock that is days ahead" "there is no libfaketime, or a sanitizer"
fi
within "$((20 * slow))" troupe doctor --host a --remote-shell /no/such/shell >said 2>&1 </dev/null
check_match "OPS-D2" "a remote shell that is not there" '/no/such/shell' "$(cat said)"

# -- munge -----------------------------------------------------------------------

if [ "$(id -u)" != 0 ] || ! unshare -m mount -t tmpfs none /run 2>/dev/null; then
  skip "OPS-D7" "munge" "it takes root and a file system to mount"
elif [ ! -x /usr/sbin/munged ]; then
  skip "OPS-D7" "munge" "munged is not installed"
else
  for x in own other; do
    head -c 1024 /dev/urandom >$x.key
    chmod 400 $x.key
  done
  around=(unshare -m sh "$PWD/with_munge.sh" "$PWD/no.key")
  check_match "OPS-D7" "a node without munge, where it is wanted" \
    "^$(hostname) error munge .* -> install munge" "$(findings --security munge)"
  check_equal "OPS-D7" "and where it is not" "" "$(findings | grep ' munge ')"
  around=(unshare -m sh "$PWD/with_munge.sh" "$PWD/own.key")
  found=$(findings --security munge --host a,otherkey)
  check_equal "OPS-D7" "it works on this node, and on one with its key" "" \
    "$(grep -v '^otherkey ' <<<"$found" | grep ' munge ')"
  check_match "OPS-D7" "a node with another key" \
    '^otherkey error munge munge works on this node, and there not: .* -> copy /etc/munge/munge\.key' \
    "$found"
  around=()
fi

# -- daemons that nobody launches ------------------------------------------------

troupe authority --name clinic authority
printf '%s\n' ClusterName=clinic "DVMControllerHost=$(hostname)" \
  "DVMNodes=$(hostname),b" "AuthorityFile=$PWD/authority" >bootstrap
check_equal "OPS-D5" "a file of a DVM that nobody launches" "" \
  "$(findings --bootstrap bootstrap | grep ' bootstrap ')"
check_equal "OPS-D5" "names its nodes" "$(hostname) b" "$(/usr/bin/python3 -c '
import json
print(*(x["name"] for x in json.load(open("said"))["nodes"]))')"
sed 's/^DVMControllerHost=.*/DVMControllerHost=root.invalid/
  s/^DVMNodes=.*/DVMNodes=root.invalid,b,c/' bootstrap >elsewhere
check_match "OPS-D5" "a root whose name nobody knows" \
  '^c error name it cannot resolve root\.invalid: .* -> .*/etc/hosts' \
  "$(findings --bootstrap elsewhere --node b)"
chmod 644 authority
check_match "OPS-D5" "an authority that others can read" '^b error bootstrap .*authority' \
  "$(findings --bootstrap bootstrap)"

# -- the daemon's part -----------------------------------------------------------

check "OPS-D1" "what is no request is refused" status 2 \
  within "$((20 * slow))" bash -c 'echo hello | trouped --probe'
check_match "OPS-D1" "an answer to a request" '^troupe-probe-1 \{.*"version"' \
  "$(echo '{}' | within "$((40 * slow))" trouped --probe 2>&1)"

clean "OPS-D1" "nothing is left"
finish
