# Certificates that a DVM's own authority has signed, and that are not good all the
# same: who has got hold of the authority's file is still bound to times and names.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "X45 X40 MND-X71"
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
# port_at NODE ADDRESS: where its daemon listens there for others.
port_at() {
  on "$1" ss -Hltn | awk '{ print $4 }' | sed -n "s/^$2://p" | head -n 1
}
# said FILE [ADDRESS]: what the root, or who is there, answers a stranger with this
# certificate.
said() {
  local target=${2:-10.201.0.1}
  on n4 "$python" "$lab_programs/strangers.py" "$target" \
    "$(port_at "n${target##*.}" "$target")" cert "$1"
}
# refused FILE TEXT [NODE]...: closed, and the logs of root and daemon say why.
refused() {
  local before node address text=$2
  [ $# -gt 2 ] || set -- "$1" "$2" n1 n2
  for node in "${@:3}"; do
    address=${node#n}
    before=$(wc -l <"$TROUPE_WORK/$node.err")
    said "$1" 10.201.0.$address || return 1
    eventually 5 sh -c \
      "tail -n +$((before + 1)) '$TROUPE_WORK/$node.err' | grep -q '10.201.0.4.*$text'" \
      || { tail -n 3 "$TROUPE_WORK/$node.err"; return 1; }
  done
}

check "X45" "a certificate that has expired" issued old.pem 2 n3 -3 -1
check "X45" "is refused" refused old.pem "certificate has expired"
check "X45" "a certificate of tomorrow" issued early.pem 2 n3 1 3
check "X45" "is refused" refused early.pem "certificate is not yet valid"
check "X45" "a certificate of no node of the list" issued foreign.pem 7 n7 -1 1
check "X45" "is refused" refused foreign.pem "no such node" n1
check "X40" "a certificate of a node under another name" issued other.pem 1 n3 -1 1
check "X40" "is refused" refused other.pem "no such node"

# Of authorities that this DVM does not know, whatever they call themselves.
check "MND-X71" "another DVM of the same name" troupe authority --name cluster others
check "MND-X71" "its certificate of the same node" "$python" \
  "$lab_programs/issuer.py" "$TROUPE_WORK/others" others.pem cluster 2 n3 -1 1
check "MND-X71" "is refused" refused others.pem "certificate"
self_made() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
    -keyout self.key -out self.crt -days 2 -subj "/CN=n3" \
    -addext "subjectAltName=URI:troupe:cluster/2/n3" && cat self.key self.crt >self.pem
}
check "MND-X71" "a certificate that somebody signed for himself" self_made
check "MND-X71" "is refused" refused self.pem "certificate"
sed "s,^AuthorityFile=.*,AuthorityFile=$TROUPE_WORK/others," nodes.conf >others.conf
background n3 trouped --bootstrap "$TROUPE_WORK/others.conf" \
  >"$TROUPE_WORK/others.out" 2>"$TROUPE_WORK/others.err"
others=$background_pid
stays_out() {
  eventually 10 grep -q "10.201.0.3.*refused.*unknown ca" "$TROUPE_WORK/n1.err" \
    && live 2 && ! live 3
}
check "MND-X71" "a daemon of the other DVM stays out, and the root says why" stays_out
kill "$others"
check "MND-X71" "it can be ended" eventually 10 no_process_on n3
sed 's/^/     | /' "$TROUPE_WORK/others.err" | head -n 5
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
