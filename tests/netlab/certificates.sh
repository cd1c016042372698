# Certificates that a DVM's own authority has signed, and that are not good all the
# same: who has got hold of the authority's file is still bound to times and names.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "X45 X40"
if ! command -v openssl >/dev/null; then
  skip "X45 X40" "certificates of a known authority" "there is no openssl"
  finish
fi
lab 4 1
python=/usr/bin/python3
port=7817
dvm_name=cluster
cat >nodes.conf <<END_OF_FILE
ClusterName=cluster
DVMControllerHost=n1
DVMNodes=n[1-3]
DVMPort=$port
AuthorityFile=$TROUPE_WORK/authority
END_OF_FILE
check "" "an authority" troupe authority --name cluster authority
: >"$TROUPE_WORK/dvm.out"
for node in n1 n2; do
  background $node trouped --bootstrap "$TROUPE_WORK/nodes.conf" \
    >"$TROUPE_WORK/$node.out" 2>"$TROUPE_WORK/$node.err"
done
live() { [ "$(in_dvm nodes --json | grep -o '"live"' | wc -l)" -eq "$1" ]; }
check "" "two of three nodes have come" eventually 30 live 2

# issued FILE RANK NAME FROM UNTIL: a certificate by the DVM's authority.
issued() {
  local file=$1
  shift
  "$python" "$lab_programs/issuer.py" "$TROUPE_WORK/authority" "$file" cluster "$@"
}
# said FILE: what the root answers a stranger with this certificate.
said() {
  on n4 "$python" "$lab_programs/strangers.py" 10.201.0.1 $port cert "$1"
}
# refused FILE TEXT: closed, and the root's log says why.
refused() {
  local before
  before=$(wc -l <"$TROUPE_WORK/n1.err")
  said "$1" || return 1
  eventually 5 sh -c "tail -n +$((before + 1)) '$TROUPE_WORK/n1.err' | grep -q '$2'" \
    || { tail -n 3 "$TROUPE_WORK/n1.err"; return 1; }
}

check "X45" "a certificate that has expired" issued old.pem 2 n3 -3 -1
check "X45" "is refused" refused old.pem "certificate has expired"
check "X45" "a certificate of tomorrow" issued early.pem 2 n3 1 3
check "X45" "is refused" refused early.pem "certificate is not yet valid"
check "X45" "a certificate of no node of the list" issued foreign.pem 7 n7 -1 1
check "X45" "is refused" refused foreign.pem "no such node"
check "X40" "a certificate of a node under another name" issued other.pem 1 n3 -1 1
check "X40" "is refused" refused other.pem "no such node"
check "X45" "a certificate that is good" issued good.pem 2 n3 -1 1
let_in() { said "$1" | grep -Eq ', [1-9][0-9]* bytes back'; }
check "X45 X36" "opens a lane, which nonsense ends" let_in good.pem
check "" "nobody was harmed" live 2

# The node whose certificates these were to be comes in.
background n3 trouped --bootstrap "$TROUPE_WORK/nodes.conf" \
  >"$TROUPE_WORK/n3.out" 2>"$TROUPE_WORK/n3.err"
check "" "the third node comes in" eventually 30 live 3
check "" "a job on all" mesh_job -n 3 true
check "" "down" within $((60 * slow)) "$netlab" exec n1 troupe down --dvm cluster
check "O18" "nothing is left on any node" nothing_after 15 n1 n2 n3
finish
