# The lab itself: what the other scripts of this folder rely on.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"

need_lab "lab:"
python=/usr/bin/python3
echo_py=$lab_programs/echo.py

serve_everywhere() {
  local i
  for i in "$@"; do
    background "$i" "$python" "$echo_py" serve >"$TROUPE_WORK/serve.$i"
  done
  for i in "$@"; do
    eventually 10 grep -q ready "$TROUPE_WORK/serve.$i" || return 1
  done
}

reach() { on "$1" "$python" "$echo_py" reach "$2"; }
no_reach() { ! reach "$@"; }

# -- bridged -------------------------------------------------------------------

lab 3 2
check "lab:" "an echo on each node" serve_everywhere n1 n2 n3
for address in 10.201.0.2 10.202.0.2 10.201.0.3 127.0.0.1; do
  check "lab:" "n1 reaches $address" reach n1 "$address"
done
for address in fd00:201::2 fd00:202::3 ::1; do
  check "lab:" "n1 reaches $address" reach n1 "$address"
done
check_equal "lab:" "a node has its own name" n2 "$(on n2 hostname)"
check_equal "lab:" "and knows the others'" 10.201.0.3 \
  "$(on n2 getent ahostsv4 n3 | awk 'NR == 1 { print $1 }')"
check "lab:" "and its own directory for sessions" \
  on n2 sh -c 'case $TMPDIR in */n2/tmp) test -w "$TMPDIR" ;; *) false ;; esac'
check_equal "lab:" "a node is a remote shell for others" n3 \
  "$(on n1 "$netlab" exec n3 hostname)"
check_equal "lab:" "words stay words" "a  b|c" \
  "$(on n1 "$netlab" exec n3 printf '%s|%s' 'a  b' c)"
check "lab:" "a status comes back" status 7 on n1 sh -c 'exit 7'
check_equal "lab:" "and input goes in" given "$(echo given | on n1 cat)"
frames() { "$netlab" traffic | awk '{ print $3 }'; }
before=$(frames)
reach n1 10.201.0.2
check "lab:" "traffic between nodes is counted" test "$(frames)" -ge $((before + 2))
check "lab:" "an unknown node is refused" status 2 on n9 true
check "lab:" "an unknown network is refused" status 2 "$netlab" cut n1 7

# fault DESCRIPTION COMMAND...: one network goes, the other stays, and it heals.
fault() {
  local what=$1
  shift
  check "lab:" "$what" "$netlab" "$@"
  check "lab:" "$what: its network is gone" no_reach n1 10.201.0.2
  check "lab:" "$what: with IPv6 too" no_reach n1 fd00:201::2
  check "lab:" "$what: the other is there" reach n1 10.202.0.2
  check "lab:" "$what: for others nothing happened" reach n3 10.201.0.1
  check "lab:" "$what: heals" "$netlab" heal n2 1
  check "lab:" "$what: is healed" eventually 5 reach n1 10.201.0.2
  check "lab:" "$what: with IPv6 too" eventually 5 reach n1 fd00:201::2
}
fault "interface down" cut n2 1
fault "carrier lost" unplug n2 1
fault "silent loss" silence n2 1
fault "silent loss of what goes out" silence n2 1 out
fault "silent loss of what comes in" silence n2 1 in
fault "address removed" address-del n2 1
fault "partition" part 1 n2

no_carrier() { on n2 ip -br link show net1 | grep NO-CARRIER; }
has_carrier() { ! no_carrier; }
check "lab:" "silent loss" "$netlab" silence n2 1
check "lab:" "the node is not told of silent loss" has_carrier
"$netlab" heal n2 1
check "lab:" "carrier lost" "$netlab" unplug n2 1
check "lab:" "the node is told of a lost carrier" no_carrier
"$netlab" heal n2 1

check "lab:" "all networks of a node" "$netlab" cut n2 all
check "lab:" "a node without networks" no_reach n1 10.202.0.2
check "lab:" "heals" "$netlab" heal n2 all
check "lab:" "and is back" eventually 5 reach n1 10.202.0.2

held() { on n1 ss -Htn state established dst 10.202.0.2 | grep .; }
not_held() { [ -z "$(held)" ]; }
background n2 "$python" -c '
import socket
s = socket.create_server(("", 7777))
while True:
    s.accept()[0].recv(1)'
background n1 "$python" -c '
import socket, time
while True:
    try:
        socket.create_connection(("10.202.0.2", 7777)).recv(1)
        time.sleep(600)
    except ConnectionRefusedError:
        pass'
check "lab:" "a connection" eventually 10 held
check "lab:" "other connections are reset" "$netlab" reset n2 1
check "lab:" "which this one is not" held
check "lab:" "its connections are reset" "$netlab" reset n2 2
check "lab:" "and this one is" eventually 5 not_held

# -- routed --------------------------------------------------------------------

end_lab
lab 2 3 --routed --virtual
check "lab:" "an echo on each node" serve_everywhere n1 n2
for address in 10.201.2.1 10.203.2.1 fd00:201:2::1 fd00:203:2::1; do
  check "lab:" "n1 reaches $address behind a gateway" eventually 5 reach n1 "$address"
done
check "lab:" "a bridge of virtual machines on both" \
  on n2 test -d /sys/class/net/virbr0
check "lab:" "silent loss in a routed network" "$netlab" silence n2 3
check "lab:" "its network is gone" no_reach n1 10.203.2.1
check "lab:" "heals" "$netlab" heal n2 3
check "lab:" "is healed" eventually 5 reach n1 10.203.2.1

# -- down ----------------------------------------------------------------------

background n1 sh -c 'trap "" TERM; sleep 600'
stubborn=$background_pid
check "lab:" "down ends what ignores TERM" "$netlab" down
gone() { ! kill -0 "$1" 2>/dev/null; }
check "lab:" "nothing of it runs" eventually 5 gone "$stubborn"
check_equal "lab:" "no namespace is left" "" \
  "$(ip netns list | grep -F "$TROUPE_LAB-")"
check "lab:" "no directory is left" test ! -e "/run/$TROUPE_LAB"
check "lab:" "down again is fine" "$netlab" down
finish
