# Streams of processes of a DVM, as tools of it see them: troupe run --dvm,
# troupe attach and troupe io. Two daemons, both on this machine.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/interop/streams.sh"

# The shell starts jobs in the background with SIGINT ignored.
set -m
largest=${TROUPE_IO_MIB:-80}
make_bytes large "$largest"
head -c 20971520 large >input
digest_of_large=$(digest <large)
digest_of_input=$(digest <input)

cat >here.sh <<'END'
#!/bin/sh
# Called as a remote shell: HOST COMMAND ARGUMENTS...
shift
exec "$@"
END
chmod +x here.sh
troupe up --name io --remote-shell "$PWD/here.sh" --host a:4,b:4 \
  >up 2>up.err </dev/null &
dvm=$!
if ! eventually 30 grep -qx "DVM ready" up; then
  cat up.err
  failed "I2" "a DVM of three daemons"
  finish
fi

# tool COMMAND...: a command that has to answer soon.
tool() {
  within "$((30 * slow))" troupe "$@"
}
run() {
  tool run --dvm io "$@"
}
# name_of FILE: the job that `run --display map` has told of there.
name_of() {
  sed -n 's/^troupe: job \([^:]*\): .*/\1/p' "$1" | head -n 1
}
# start NAME OPTION... : a job in the background; sets its number and name.
start() {
  troupe run --dvm io --display map "${@:2}" >"$1.out" 2>"$1.err" <"${stdin:-/dev/null}" &
  runner=$!
  eventually 10 grep -q '^troupe: job' "$1.err" || return 1
  job=$(name_of "$1.err")
}
# peak_of_daemons: the largest resident memory of those of this DVM, in KiB.
peak_of_daemons() {
  local pid
  for pid in $(marked_processes); do
    case $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null) in
      troupe\ up* | *trouped*) sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status" ;;
    esac
  done | sort -n | tail -n 1
}

# -- troupe run --dvm ----------------------------------------------------------

check_equal "P-I1" "20 MB of a process of another node" "$digest_of_input" \
  "$(run -n 1 cat input | digest)"
mkfifo pipe
sleeps() {
  peak memory troupe run --dvm io -n 1 sh -c "$as_writer" sh cat large >pipe &
  local runner=$! got daemons
  got=$({ stuck; digest; } <pipe)
  wait "$runner" || return 1
  daemons=$(peak_of_daemons)
  echo "$largest MiB: $(tail -n 1 memory) KiB resident, daemons $daemons KiB"
  [ "$got" = "$digest_of_large" ] && [ "$(tail -n 1 memory)" -lt "$most_kib" ] \
    && [ "$daemons" -lt "$most_kib" ]
}
check "I18" "193: $largest MiB into a reader that sleeps" sleeps
cat "$TROUPE_WORK/output"
reads='sha256sum | cut -d " " -f 1 >"in.$PMIX_RANK"'
run -n 3 --stdin all sh -c "$reads" <input
check_equal "I6" "196, 197: 20 MB for three processes of two nodes" \
  "$digest_of_input" "$(cat in.0 in.1 in.2 | sort -u)"
rm -f in.*
mkfifo endless
exec 8<>endless
echo first >&8
check_equal "I6" "an input without an end for rank 1" "first" \
  "$(run -n 2 --stdin 1 sh -c '
     test "$PMIX_RANK" = 0 || { read -r x; echo "$x"; }' <endless)"
exec 8>&-
crosses() {
  local i one two
  for i in a b; do
    run -n 4 sh -c "i=0; while [ \$i -lt 3000 ]; do echo $i; i=\$((i + 1)); done" \
      >cross.$i &
    two=${one:-}
    one=$!
  done
  wait "$one" && wait "$two" || return 1
  [ "$(sort cross.a | uniq -c | xargs)" = "12000 a" ] \
    && [ "$(sort cross.b | uniq -c | xargs)" = "12000 b" ]
}
check "I5" "201: two jobs at once: their output never crosses" crosses
interrupted() {
  rm -f writer
  troupe run --dvm io -n 1 sh -c "$as_writer" sh cat /dev/zero >pipe \
    2>/dev/null </dev/null &
  local runner=$! outcome
  exec 7<pipe
  stuck && interrupts "$runner"
  outcome=$?
  exec 7<&-
  return "$outcome"
}
check "I18" "a launcher whose reader has stopped can be interrupted" interrupted
build io_spawn
spawns() {
  run -n 1 ./io_spawn watch >spawned || return 1
  local rank
  for rank in 0 1; do
    cmp <(sed -n "s/^$rank //p" spawned) <(seq 0 999) || return 1
  done
}
check "I17" "199: the output of a spawned job reaches who watches its parent" \
  spawns
# outlived OPTION...: a job ends, and what it has started goes on.
outlived() {
  rm -f go
  : >outlived.out # What is waited for is what this one says.
  troupe run --dvm io "$@" -n 1 ./io_spawn leave >outlived.out 2>outlived.err &
  local runner=$!
  eventually 10 sh -c 'test $(grep -c begins outlived.out) = 2' || return 1
  # Its parent is over, but not the launcher.
  eventually 10 sh -c 'test $(troupe jobs --dvm io | grep -c "io@") = 1' || return 1
  kill -0 "$runner" || return 1
  "$then" "$runner"
  wait "$runner"
}
then=go_on
go_on() { : >go; }
ends_late() {
  outlived
  local outcome=$?
  cat outlived.out outlived.err
  [ "$outcome" = 3 ] && [ "$(grep -c ends outlived.out)" = 2 ] \
    && grep -qEx "troupe: rank [01] \([^ ]+, pid [0-9]+ on [^ ]+\) exited with status 3" outlived.err
}
check "I17" "the launcher stays for a spawned job that outlives its parent" ends_late
tells_both() {
  outlived --json
  [ $? = 3 ] || return 1
  cat outlived.out
  python3 - <<'END'
import json
lines = [json.loads(x) for x in open("outlived.out")]
ends = [(x["nspace"], x["exit_status"]) for x in lines if x["type"] == "job_ended"]
assert [x[1] for x in ends] == [0, 3], ends
assert lines[-1]["type"] == "job_ended"
END
}
check "I17" "JSON tells the ends of both, the last at the end" tells_both
is_interrupted() {
  then=interrupt
  outlived
  local outcome=$?
  then=go_on
  [ "$outcome" = 130 ] && [ "$(grep -c ends outlived.out)" = 0 ] \
    && eventually 10 sh -c 'test $(troupe jobs --dvm io | grep -c "io@") = 0'
}
interrupt() { kill -INT "$1"; }
check "I17" "an interrupt ends the spawned job" is_interrupted
is_lost() {
  then=interrupt_hard
  outlived
  then=go_on
  eventually 10 sh -c 'test $(troupe jobs --dvm io | grep -c "io@") = 0'
}
interrupt_hard() { kill -KILL "$1"; }
check "I17" "a launcher that is killed takes the spawned job with it" is_lost

# -- marks ---------------------------------------------------------------------

# detailed FILE: whether its lines `[N,RANK][HOST:PID]<stdout>: PID` are those of
# eight processes, as `troupe ps` in `ps` tells of them.
detailed() {
  cat "$1" ps
  sed 's/^\[[^,]*,\([0-9]*\)\]\[\([^:]*\):\([0-9]*\)\]<stdout>: /\1 \2 \3 /' "$1" \
    | sort -n >told
  python3 -c 'import json, sys
rows = sorted((x["rank"], x["host"], x["pid"]) for x in json.load(open("ps"))["processes"])
for rank, host, pid in rows:
    print(rank, host, pid, pid)
assert len(rows) == 8 and len({x[1] for x in rows}) == 2, rows' >known || return 1
  cmp told known
}
marked() {
  rm -f go
  start marked -n 8 --output tag-detailed sh -c \
    'echo $$; until [ -e go ]; do sleep 0.05; done' || return 1
  eventually 10 sh -c 'test $(wc -l <marked.out) = 8' || return 1
  tool ps --dvm io --json >ps || return 1
  tool attach --dvm io "$job" --output tag-detailed >marked.there 2>marked.log &
  local first=$!
  eventually 10 sh -c 'test $(wc -l <marked.there) = 8' || return 1
  : >go
  wait "$first" && wait "$runner" && detailed marked.out && detailed marked.there
}
check "I16" "tag-detailed: host and process number on all nodes" marked

# -- troupe attach -------------------------------------------------------------

# A job whose output nobody gets but who attaches: lines of 100 bytes, 1000
# before the file `go` is there, and 1000 behind.
cat >lines.sh <<'END'
i=0
while [ $i -lt 2000 ]; do
  if [ $i = 1000 ]; then
    : >half.$PMIX_RANK
    until [ -e go ]; do sleep 0.02; done
  fi
  printf '%099d\n' $i
  i=$((i + 1))
done
END
seq -f '%099.0f' 0 1999 >expected
unwatched() {
  rm -f go half.*
  start "$1" -n 2 --output dir="$PWD/$1.files,file-only" sh lines.sh \
    && eventually 10 test -e half.0 -a -e half.1
}
comes_later() {
  unwatched later || return 1
  tool attach --dvm io "$job:0" >later.0 2>later.log &
  local first=$!
  tool attach --dvm io "$job:1" >later.1 2>>later.log &
  local second=$!
  eventually 5 test -s later.0 -a -s later.1 || return 1
  : >go
  wait "$first" && wait "$second" && wait "$runner" || return 1
  cmp expected later.0 && cmp expected later.1
}
check "I8 IO-5" "194: attach shows what is kept, then what comes, without a seam" \
  comes_later
is_a_sink() { tool io list --dvm io "$1" | grep -q ' tool '; }
go_with_sink() { eventually 10 is_a_sink "$1" && : >go; }
resumes() {
  unwatched resumed || return 1
  troupe attach --dvm io "$job:0" >resumed.a 2>resumed.log &
  local first=$! at
  eventually 5 sh -c 'test $(wc -c <resumed.a) = 100000' || return 1
  kill -INT "$first"
  wait "$first"
  [ $? = 3 ] || return 1
  at=$(sed -n 's/.*shown: [^ ]* stdout \([0-9]*\).*/\1/p' resumed.log)
  [ "$at" = 100000 ] || return 1
  go_with_sink "$job:0" &
  tool attach --dvm io "$job:0" --offset "$at" >resumed.b || return 1
  cat resumed.a resumed.b | cmp expected -
}
check "I8" "194: a reader leaves, and comes back at the offset it has reached" resumes
# What rank 0 writes before `go` and behind it is `input`.
halves='head -c 1000 input; : >half.0; until [ -e go ]; do sleep 0.02; done
'
is_killed() {
  rm -f go half.0 writer
  start killed -n 1 --output dir="$PWD/killed.files,file-only" \
    sh -c "$halves$as_writer" sh tail -c +1001 input || return 1
  eventually 10 test -e half.0 || return 1
  troupe attach --dvm io "$job:0" >killed.a 2>/dev/null &
  local first=$!
  eventually 5 test -s killed.a || return 1
  kill -STOP "$first"
  : >go
  stuck || return 1
  kill -KILL "$first"
  wait "$runner" && cmp input killed.files/*/rank.0/stdout
}
check "I9 I18" "a reader that is stopped and killed holds nobody up for ever" is_killed
live() {
  unwatched live || return 1
  tool attach --dvm io "$job:0" --live >live.a 2>live.log &
  local first=$!
  go_with_sink "$job:0" || return 1
  wait "$first" && wait "$runner" && tail -n 1000 expected | cmp - live.a
}
check "IO-5" "attach --live shows what comes only" live
gap() {
  rm -f half.0 go
  start gone -n 1 --output "dir=$PWD/gone.files,file-only,tail=64K" \
    sh -c 'cat input; : >half.0; until [ -e go ]; do sleep 0.02; done' || return 1
  eventually 10 test -e half.0 || return 1
  go_with_sink "$job:0" &
  tool attach --dvm io "$job:0" --offset 0 >gone.a 2>gone.log || return 1
  local missing shown
  shown=$(wc -c <gone.a)
  missing=$(sed -n 's/.* \([0-9]*\) bytes of stdout.*missing.*/\1/p' gone.log)
  echo "$shown shown, ${missing:-0} missing"
  [ "$((shown + ${missing:-0}))" = 20971520 ] && tail -c "$shown" input | cmp - gone.a
}
check "P-I1 I8" "what is gone is told, byte for byte" gap
cat "$TROUPE_WORK/output"
types() {
  # The launcher's own input goes on, too.
  mkfifo hold && exec 8<>hold || return 1
  stdin=hold start typed -n 2 --stdin 1 sh -c '
    while read -r x; do echo "got $x"; done; echo over' || return 1
  echo one | tool attach --dvm io -i --keep-open "$job:1" >typed.a 2>typed.log &
  local first=$!
  eventually 5 grep -q "got one" typed.a || return 1
  echo two | tool attach --dvm io -i "$job:1" >typed.b 2>>typed.log
  wait "$first" && wait "$runner" && [ "$(xargs <typed.b)" = "got one got two over" ]
}
check "I6 I9" "195: attach -i: sources come one after the other" types

# -- troupe io -----------------------------------------------------------------

lists() {
  unwatched listed || return 1
  tool io offsets --dvm io "$job" >offsets || return 1
  grep -qx "$job:0 stdout 0 100000 open" offsets \
    && grep -qx "$job:1 stdout 0 100000 open" offsets || return 1
  tool io list --dvm io "$job:1" | grep -Eq "^ *$job +1 +stdout +0 +100000 +open" || return 1
  tool io list --dvm io "$job" --json | grep -q '"end": 100000'
}
check "I2" "list and offsets show the streams" lists
follows() {
  troupe io follow --dvm io >followed 2>/dev/null &
  local first=$!
  eventually 5 test -s followed || return 1
  : >go
  wait "$runner"
  run -n 1 echo another >/dev/null
  eventually 5 grep -q another followed || return 1
  kill -INT "$first"
  wait "$first" || return 1
  [ "$(sed -n 's/^0: //p' followed | head -n 2000 | digest)" = "$(digest <expected)" ]
}
check "I5" "203: follow shows the output of all jobs, also of those to come" follows

# A user that is not root is told of the own streams.
if [ "$(id -u)" -eq 0 ] && id nobody >/dev/null 2>&1; then
  there=$(mktemp -d /tmp/troupe-io.XXXXXX)
  chmod 755 "$there"
  cp "$(command -v troupe)" "$there/"
  install -d -o nobody "$there/tmp"
  as_nobody() {
    (cd / && exec setpriv --reuid=nobody --regid=nogroup --clear-groups \
      env TMPDIR="$there/tmp" HOME=/ timeout 30 "$there/troupe" "$@")
  }
  lists_own() {
    as_nobody run -n 1 sh -c 'echo 12345; exec sleep 20' >own.out 2>own.err &
    local runner=$! launcher listed
    eventually 10 grep -q 12345 own.out || { cat own.err; return 1; }
    launcher=$(pgrep -u nobody -f "^$there/troupe run")
    as_nobody io list --dvm "pid:$launcher" >listed 2>&1
    kill "$launcher"
    wait "$runner"
    cat listed
    grep -q ' stdout  *0 *6 ' listed
  }
  check "X28" "a user that is not root is told of the own streams" lists_own
  rm -rf "$there"
else
  skip "X28" "streams of a user that is not root" "needs root and the user nobody"
fi

# -- what is wrong -------------------------------------------------------------

# told STATUS TEXT COMMAND...: one line with the text.
told() {
  local expected=$1 text=$2
  shift 2
  "$@" >told.out 2>&1
  local outcome=$?
  cat told.out
  [ $outcome = "$expected" ] && [ "$(wc -l <told.out)" = 1 ] && grep -q -- "$text" told.out
}
check "I2" "attach: no such job" told 1 'there is no job nothing@1' \
  tool attach --dvm io nothing@1
check "I2" "io: no such job" told 1 'there is no job nothing@1' \
  tool io list --dvm io nothing@1
ranks() {
  rm -f go
  start ranks -n 2 sh -c 'until [ -e go ]; do sleep 0.02; done' || return 1
  told 1 "has no rank 7; its ranks are 0 to 1" tool attach --dvm io "$job:7"
  local outcome=$?
  : >go
  wait "$runner" && return "$outcome"
}
check "I2" "attach: a rank that is not there" ranks
. "$TROUPE_SOURCE/tests/interop/lines.sh"
check "MND-TORN" "lines of two processes of two nodes stay whole" \
  whole run --map-by node -n 2
check "I2" "attach: no such DVM" told 1 'you have no DVM none' \
  tool attach --dvm none a:0
check "I2" "attach: input needs a rank" told 2 'write a:RANK' \
  tool attach --dvm io -i a
check "I2" "attach: no file" told 2 'for whoever starts the job' \
  tool attach --dvm io a:0 --output dir=x
check "I2" "io: no such stream" told 2 'stdout, stderr or stddiag' \
  tool io follow --dvm io --stream stdin

tool down --dvm io >/dev/null 2>&1
wait "$dvm"
clean "I17" "nothing is left"
finish
