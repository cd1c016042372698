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
for folder in pauses signals ends cancels cleans beats; do rm -rf "$folder"; done

clean "CTL-3" "no process is left"
finish
