# `troupe top` and `troupe run --progress` on a real terminal: one of tmux, which shows
# what is on it, types, and changes its size.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

cd "$TROUPE_WORK" || exit 1
if ! command -v tmux >/dev/null; then
  skip "OPS-T1" "troupe top on a terminal" "tmux is not installed (scripts/setup)"
  finish
fi

cat >here.sh <<'END'
#!/bin/sh
# Called as a remote shell: HOST COMMAND ARGUMENTS... A node may take its time: until
# there is a file `go`.
here=${0%/*}
[ "$1" != slow ] || until [ -e "$here/go" ]; do sleep 0.1; done
shift
exec "$@"
END
chmod +x here.sh

# -- a terminal ------------------------------------------------------------------

# A tmux of our own, with its socket and settings here.
unset TMUX
cat >tmux.conf <<'END'
set -g default-shell /bin/sh
set -g default-terminal screen
set -g status off
END
in_tmux() {
  LC_ALL=C.UTF-8 tmux -S "$TROUPE_WORK/tmux" -f "$TROUPE_WORK/tmux.conf" "$@"
}
# Its server is a daemon, which a script that stops half-way would leave behind.
trap 'in_tmux kill-server 2>/dev/null
  [ "$checks_finished" = yes ] || echo "the script stopped before finish"' EXIT

# on_terminal COMMAND: opens one of 80 by 24 that runs it; afterwards it says with what
# it ended, and stays, also after Ctrl-C.
on_terminal() {
  # The server of the terminal before may still be about to end.
  # shellcheck disable=SC2016
  eventually 10 in_tmux new-session -d -x 80 -y 24 \
    "trap : INT; $1"'; echo "ended with $?"; exec sleep 600'
}
screen() { in_tmux capture-pane -p; }
shows() { screen | grep -Eq -- "$1"; }
shows_no() { ! shows "$1"; }
shows_lines() { [ "$(screen | grep -Ec -- "$2")" = "$1" ]; }
keys() { in_tmux send-keys "$@"; }
# What is above what is shown, too.
all_of_it() { in_tmux capture-pane -p -S -; }
close_terminal() { in_tmux kill-server; }

# -- a DVM with jobs -------------------------------------------------------------

troupe up --name top --host a:4,b:4 --remote-shell "$PWD/here.sh" >up.out 2>up.err \
  </dev/null &
dvm_pid=$!
eventually 30 grep -qx "DVM ready" up.out || { failed "" "a DVM"; cat up.err; finish; }
# worker NAME PROCESSES: a job that ends when there is a file of its name.
worker() {
  # shellcheck disable=SC2016
  within "$((200 * slow))" troupe run --dvm top -n "$2" --map-by node sh -c '
    trap "echo got it >got.$0.$PMIX_RANK" USR1
    : >"runs.$0.$PMIX_RANK"
    until [ -e "end.$0" ]; do sleep 0.1; done' "$1" >"$1.out" 2>&1 </dev/null &
}
worker first 2
first=$!
worker second 4
second=$!
for x in first.0 first.1 second.0 second.1 second.2 second.3; do
  eventually 60 test -e "runs.$x" || { failed "" "the jobs run"; cat ./*.out; finish; }
done
nspace_of() { troupe ps --dvm top --json | /usr/bin/python3 -c '
import collections, json, sys
n = collections.Counter(x["nspace"] for x in json.load(sys.stdin)["processes"])
print(*(x for x in n if n[x] == int(sys.argv[1])))' "$1"; }
job=$(nspace_of 2)

# -- once ------------------------------------------------------------------------

once() { within "$((20 * slow))" troupe top --dvm top "$@" </dev/null; }
check_match "OPS-T1" "--once: a line of counts" \
  '^[23] nodes, 2 jobs, 6 processes: 6 running$' "$(once --once)"
check_match "OPS-T1" "--once: nodes" '^ *[0-9]+ +a +live +4 +3 ' "$(once --once)"
check_match "OPS-T1" "--once: jobs" "^$job +running +2 +2 +2 " "$(once --once)"
check_match "OPS-T1" "--once: ranks, with what they use" \
  "^$job +1 +[ab] +[0-9]+ +running +[0-9]+\.[0-9] +[0-9]+ +sh\$" "$(once --once)"
# titles: those of the tables of a text.
titles() { grep -E '^(RANK|JOB) ' | tr -s ' ' | sed 's/ $//'; }
check_equal "OPS-T1" "docs/operating.md has its columns" "$(once --once | titles)" \
  "$(sed -n '/^<!-- troupe top, by scripts/,/^```$/p' "$TROUPE_SOURCE/docs/operating.md" \
    | titles)"
check_equal "OPS-T2" "--once: a table, sorted" "3 2 1 0" \
  "$(once --once --table ranks --sort rank --reverse --filter "$(nspace_of 4)" \
    | awk 'NR > 3 { print $2 }' | xargs)"
check "OPS-T2" "a column that is not there" status 2 once --once --sort size
check "OPS-T1" "without a terminal it says so" status 1 once
check_match "OPS-T1" "and what to do" 'with --once' "$(once 2>&1)"
check_match "OPS-T1" "a DVM that is not there" 'no DVM none' \
  "$(troupe top --dvm none --once 2>&1)"
check_match "OPS-T1" "a terminal of no known kind" 'TERM=no-such-kind' \
  "$(within 20 script -qec "env TERM=no-such-kind troupe top --dvm top" /dev/null 2>&1)"

# -- the screen ------------------------------------------------------------------

check "OPS-T1" "a terminal of 80 by 24" \
  on_terminal "troupe top --dvm top --interval 0.3"
check "OPS-T1" "it shows the ranks" eventually 20 shows "^$job +1 +[ab] .* running "
check "OPS-T1" "and counts" eventually 10 shows '2 jobs, 6 processes: 6 running'
check_equal "OPS-T4" "24 lines, none longer than 80" "" \
  "$(screen | awk 'length($0) > 80 { print } END { if (NR > 24) print NR }')"
keys_are_last() { screen | tail -n 1 | grep -q '^q quit'; }
check "OPS-T1" "the keys are in the last line" eventually 10 keys_are_last
keys 2
check "OPS-T1" "jobs" eventually 10 shows '^JOB +STATE +NODES'
keys 3
check "OPS-T1" "nodes" eventually 10 shows '^ *[0-9]+ +b +live'
keys 1 '>' '>'
check "OPS-T2" "sorted by the rank" eventually 10 shows 'by RANK'
keys r
check "OPS-T2" "the other way round" eventually 10 shows 'by RANK, largest first'
keys / "$job" Enter
check "OPS-T2" "a filter" eventually 10 shows "with \"$job\""
check "OPS-T2" "leaves that job's" eventually 10 shows_lines 2 ' running '

# -- another size ----------------------------------------------------------------

in_tmux resize-window -x 50 -y 12
fits() { [ "$(screen | awk 'length($0) > 50' | wc -l)" = 0 ] && shows '^q quit'; }
check "OPS-T4" "smaller" eventually 10 fits
check "OPS-T4" "and what counts is still there" eventually 10 shows '^JOB +RANK'
in_tmux resize-window -x 120 -y 40
wide() { shows '^q quit.*[?] help' && shows '^JOB +RANK'; }
check "OPS-T4" "larger" eventually 10 wide
in_tmux resize-window -x 10 -y 3
check "OPS-T4" "tiny: it goes on" eventually 10 shows '.'
in_tmux resize-window -x 80 -y 24
check "OPS-T4" "and back" eventually 10 shows '^q quit.*[?] help'

# -- signals ---------------------------------------------------------------------

keys Home k
check "OPS-T3" "k asks for a signal" eventually 10 shows "^signal to $job:1"
keys USR1 Enter
check "OPS-T3" "and for a confirmation" eventually 10 shows "^send USR1 to $job:1\? y or n"
keys n
check "OPS-T3" "without one nothing is sent" eventually 10 shows '^nothing was sent'
keys k USR1 Enter
check "OPS-T3" "once more" eventually 10 shows "^send USR1 to $job:1"
check "OPS-T3" "nobody has got it yet" test ! -e got.first.1
keys y
check "OPS-T3" "the process gets it" eventually 20 test -e got.first.1
check "OPS-T3" "the user is told" eventually 10 shows '^reached 1 process'
check "OPS-T3" "nobody else gets it" test ! -e got.first.0
keys Escape
touch end.second
wait "$second"
check "OPS-T1" "a job that ends goes" eventually 20 shows '1 job, 2 processes: 2 running'
keys q
check "OPS-T1" "q ends it" eventually 10 shows '^ended with 0'
check "OPS-T1" "the terminal is as it was" eventually 10 shows_no '^q quit'
check "" "that terminal" close_terminal

check "OPS-T1" "another one" on_terminal "troupe top --dvm top --interval 0.3"
check "OPS-T1" "that shows them, too" eventually 20 shows '2 running'
keys C-c
check "OPS-T1" "Ctrl-C ends it" eventually 10 shows '^ended with [0-9]+'
check "" "that terminal" close_terminal
check "OPS-T1" "and another one" on_terminal "troupe top --dvm top --interval 0.3"
check "OPS-T1" "until there are none" eventually 20 shows '2 running'
touch end.first
wait "$first"
check "OPS-T1" "no jobs" eventually 20 shows '^none'
within "$((60 * slow))" troupe down --dvm top
wait "$dvm_pid"
check "OPS-T1" "the end of the DVM ends it" eventually 20 shows '^ended with 1'
check "OPS-T1" "and it says why" eventually 10 shows '^troupe top: the DVM'
check "" "that terminal" close_terminal

# -- progress --------------------------------------------------------------------

run_far="troupe run --progress --host a,slow --remote-shell $PWD/here.sh -n 2"
check "OPS-T5" "a start that takes long" \
  on_terminal "$run_far sh -c 'echo it runs'"
check "OPS-T5" "is counted at a terminal" \
  eventually 20 shows '^troupe: started [12] of 3 nodes$'
touch go
check "OPS-T5" "until it is over" eventually 30 shows '^ended with 0'
check_equal "OPS-T5" "nothing of it stays" "" "$(all_of_it | grep 'of 3 nodes')"
check "OPS-T5" "output is as it was" eventually 10 shows_lines 2 '^it runs$'
check "" "that terminal" close_terminal

# shellcheck disable=SC2016
stubborn='trap "" TERM; echo stays; while :; do sleep 1; done'
check "OPS-T5" "an end that takes long" \
  on_terminal "troupe run --progress -n 2 --oversubscribe sh -c '$stubborn'"
check "OPS-T5" "of processes that do not want to" eventually 20 shows_lines 2 '^stays'
keys C-c
check "OPS-T5" "is counted, too" eventually 20 shows '^troupe: ended 0 of 2 processes$'
check "OPS-T5" "until it is over" eventually 30 shows '^ended with 130'
check "" "that terminal" close_terminal

rm go
# Longer than it takes for a line.
{ sleep 2; touch go; } &
# shellcheck disable=SC2086
within "$((60 * slow))" $run_far true >out 2>err </dev/null
wait $!
check_equal "OPS-T5" "without a terminal nothing is written" "" "$(cat out err)"

# -- what it costs ---------------------------------------------------------------

# shellcheck disable=SC2016
check_equal "OPS-T1" "a job loads no ncurses" "0" \
  "$(troupe run -n 1 sh -c 'grep -c ncurses /proc/$PPID/maps || true')"

clean "OPS-T1" "nothing is left"
finish
