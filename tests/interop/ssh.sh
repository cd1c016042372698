# A DVM whose daemons real ssh starts: an sshd of our own on loopback, with keys
# that are thrown away. All nodes are this machine.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

sshd=$(PATH=$PATH:/usr/sbin command -v sshd) || sshd=
for tool in "$sshd" ssh ssh-keygen; do
  command -v "${tool:-none}" >/dev/null && continue
  skip "DVM-8" "daemons by ssh" "there is no sshd or no ssh here"
  finish
done

# -- an sshd -------------------------------------------------------------------

keys=$TROUPE_WORK/keys
mkdir -p "$keys"
for key in host user stranger; do
  ssh-keygen -q -t ed25519 -N '' -f "$keys/$key"
done
port=$(free_port)
cat >"$keys/sshd_config" <<END_OF_FILE
ListenAddress 127.0.0.1:$port
HostKey $keys/host
AuthorizedKeysFile $keys/user.pub
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
AcceptEnv TROUPE_* TMPDIR
END_OF_FILE
echo "* $(cut -d' ' -f1,2 "$keys/host.pub")" >"$keys/known_hosts"
cat >"$keys/ssh_config" <<END_OF_FILE
Host *
  HostName 127.0.0.1
  Port $port
  User $(id -un)
  IdentitiesOnly yes
  IdentityFile $keys/user
  UserKnownHostsFile $keys/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
  SendEnv TROUPE_MARK TMPDIR
END_OF_FILE
# Where it separates its privileges.
[ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd
"$sshd" -D -e -f "$keys/sshd_config" 2>"$keys/sshd.log" </dev/null &
sshd_pid=$!
as_user="ssh -F $keys/ssh_config"
eventually 10 $as_user -o BatchMode=yes n true || {
  failed "" "an sshd on loopback"
  cat "$keys/sshd.log"
  finish
}

tool() {
  within "$((20 * slow))" troupe "$@"
}

# start_dvm OPTION...: sets dvm_pid.
start_dvm() {
  : >"$TROUPE_WORK/up" # What is waited for is what this one says.
  troupe up --name bysshd "$@" >"$TROUPE_WORK/up" 2>"$TROUPE_WORK/up.err" \
    </dev/null &
  dvm_pid=$!
  eventually 30 grep -qx "DVM ready" "$TROUPE_WORK/up" || {
    cat "$TROUPE_WORK/up.err"
    return 1
  }
}

ended() {
  eventually 20 sh -c "! kill -0 $1"
}

# shells: our ssh clients that still run.
shells() {
  local pid
  for pid in $(marked_processes); do
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != ssh ] || echo "$pid"
  done
}
no_shells() { [ -z "$(shells)" ]; }

where='echo $PMIX_HOSTNAME'
run() {
  within "$((60 * slow))" troupe run --dvm bysshd "$@" </dev/null
}

# -- daemons by ssh ------------------------------------------------------------

check "O5" "a DVM whose daemons ssh starts" \
  start_dvm --remote-shell "$as_user" --host a:2,b:2
check_equal "DVM-8" "a job on them" "a a b b" "$(run -n 4 sh -c "$where" | sort | xargs)"
check "DVM-8" "no ssh stays" eventually 5 no_shells
check "DVM-8" "down ends it" tool down
check "DVM-8" "and its root" ended "$dvm_pid"

check "DVM-8" "with ssh that stays" start_dvm --remote-shell "$as_user" \
  --leave-session-attached --host a:1,b:1
check_equal "DVM-8" "an ssh for each daemon" 2 "$(shells | wc -l)"
check_equal "DVM-8" "a job on them" "a b" "$(run -n 2 sh -c "$where" | sort | xargs)"
check "DVM-8" "down ends it" tool down
check "DVM-8" "and its root" ended "$dvm_pid"
check "DVM-8" "and all ssh" eventually 5 no_shells

# What ssh hands to a shell there comes as it was.
ln -s "$TROUPE_BIN" "it's a \$HOME of programs"
check_equal "DVM-8" "a daemon with an odd name" "a" \
  "$(within $((60 * slow)) troupe run --remote-shell "$as_user" --host a:1 \
    --launch-agent "\"$PWD/it's a \\\$HOME of programs/trouped\"" \
    -n 1 sh -c "$where" </dev/null)"

# By default the ssh in the path is asked.
mkdir path
printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v ssh)" \
  "$keys/ssh_config" >path/ssh
chmod +x path/ssh
check_equal "DVM-8" "without --remote-shell, ssh" "a b" \
  "$(PATH=$PWD/path:$PATH within $((60 * slow)) troupe run --host a:1,b:1 \
    -n 2 sh -c "$where" </dev/null | sort | xargs)"
clean "" "nothing is left of them" 2>/dev/null

# -- what ssh refuses ----------------------------------------------------------

# refuses REGEX COMMAND...: one line, status 3.
refuses() {
  local regex=$1 outcome=0
  shift
  within "$((30 * slow))" "$@" >"$TROUPE_WORK/said" 2>&1 </dev/null || outcome=$?
  cat "$TROUPE_WORK/said"
  [ "$outcome" -eq 3 ] || { echo "status $outcome"; return 1; }
  [ "$(wc -l <"$TROUPE_WORK/said")" -eq 1 ] || { echo "not one line"; return 1; }
  grep -Eq "$regex" "$TROUPE_WORK/said"
}

check "DVM-5 DVM-8" "a key that nobody knows" \
  refuses 'on a: .*Permission denied' troupe up --host a \
  --remote-shell "$as_user -o BatchMode=yes -i $keys/stranger -o IdentityFile=$keys/stranger -F none -p $port -o HostName=127.0.0.1 -o UserKnownHostsFile=$keys/known_hosts -o IdentitiesOnly=yes"
check "DVM-5 DVM-8" "a host that has another key" \
  refuses 'on a: .*Host key verification failed' troupe up --host a \
  --remote-shell "$as_user -o BatchMode=yes -o UserKnownHostsFile=/dev/null"
kill "$sshd_pid"
wait "$sshd_pid"
check "DVM-5 DVM-8" "a host that does not listen" \
  refuses 'on a: ssh: connect to host 127.0.0.1 port .*refused' \
  troupe up --host a --remote-shell "$as_user"
clean "" "nothing is left at the end"
finish
