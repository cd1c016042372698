# Job control on real processes: exactly those named stand still, get signals and
# end, and nothing of them is left.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build control
limit=20

# in_folder NAME COMMAND...: the ranks tell each other by files.
in_folder() (
  mkdir "$1" && cp control "$1/control" && cd "$1" || return 1
  shift
  "$@"
)

# Whoever was killed by command is no failure; the status tells of it.
pauses() { status 143 job -n 4 "$@" ./control pauses; }
check "J6 J7 81 CTL-3" "the paused use no processor, whatever session they are in" \
  in_folder pauses pauses
check "J15 J2 79 80" "a signal reaches exactly whom it names" \
  in_folder signals job -n 4 ./control signals
ends() { status 143 job -n 3 ./control ends; }
check "J35 J4 83 78" "terminate gives its grace and names the dead" \
  in_folder ends ends
check "J5 J8 J20 88 89" "requests have names, states, and can be cancelled" \
  in_folder cancels job -n 2 ./control cancels
cleaned() {
  status 137 job -n 2 ./control cleans || return 1
  [ ! -e left.behind ]
}
check "J9 82" "kill cleans up what was registered" in_folder cleans cleaned
check "MON-2 81" "whoever is paused need not beat" \
  in_folder beats job -n 2 ./control beats
check "J2" "nobody by name is one's own job, and no other" \
  in_folder others job -n 2 ./control others
check "J8 J21 89" "cancelling touches one's own requests only" \
  in_folder owns job -n 5 ./control owns
check "J12" "a checkpoint by an event with a code of the requester's own" \
  in_folder event job -n 3 ./control event

# -- what the system is going to do ---------------------------------------------

failure() {
  (mkdir -p "$1" && cp control "$1/" && cd "$1" || exit
    shift
    job -n 2 "$@" ./control failure 2>/dev/null)
}
check_equal "E59" "the end of a process says that its job is ended" \
  "the job ends" "$(failure fatal)"
check_equal "E59" "and does not where the job goes on" \
  "the job goes on" "$(failure survived --rtos recoverable)"
check "E59" "an alert says that the job is ended, and when" \
  in_folder preempts job -n 2 ./control preempts

# -- logs ----------------------------------------------------------------------

# sendmail has a fixed place: a mount name space of our own has it.
private() {
  unshare --mount --propagation private "$@"
}
logged() {
  private sh -c "mount --bind sbin /usr/sbin && cd logs \
    && exec timeout $((30 * slow)) troupe run --oversubscribe -n 2 ./control logs $1" \
    2>logs.err
}
if [ "$(id -u)" -eq 0 ] && private mount --bind /tmp /tmp 2>/dev/null; then
  mkdir -p sbin logs
  cp control logs/
  printf '#!/bin/sh\ncat >>%s/mails\n' "$TROUPE_WORK" >sbin/sendmail
  chmod +x sbin/sendmail
  check_equal "J33" "channels of job control, and what became of each" \
    "pmix.log.stderr 0
pmix.log.email 0" "$(logged 0)"
  time='[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8} UTC'
  check_match "J33" "the log says who asked for what and when" \
    "^maintenance: $time: .*:0 of user 0 has asked for job control, signal 10, of .*:1\$" \
    "$(cat logs.err)"
  check_match "J33" "and that it was performed" \
    "^maintenance: $time: .*, signal 10, of .*:1: it has been done to 1 process\$" \
    "$(cat logs.err)"
  check_equal "J33" "so do mails: of two requests" 4 \
    "$(grep -cx 'To: operator@example.org' mails)"
  check_equal "J33" "with the requester's words" 4 "$(grep -cx 'as agreed' mails)"
  check_match "J33" "and ours" \
    "^$time: .*:1: it has been done to 1 process\$" "$(cat mails)"
  rm -f sbin/sendmail logs/*.0 logs/*.1
  check_equal "J33" "without mail what requires it is refused, other things are done" \
    "pmix.log.stderr 0
pmix.log.email -47" "$(logged -47)"
  rm -rf sbin logs logs.err mails
else
  skip "J33" "job control with logs and mail" "needs root and a mount name space"
fi

for folder in pauses signals ends cancels cleans beats others owns event \
  fatal survived preempts; do
  rm -rf "$folder"
done

clean "CTL-3" "no process is left"
finish
