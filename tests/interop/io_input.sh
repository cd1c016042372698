# Standard input of processes on one node: whose it is, every byte once, and no
# faster than it is read.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/interop/streams.sh"

make_bytes input 20
digest_of_input=$(digest <input)
digest_of_nothing=$(digest </dev/null)

reads='sha256sum | cut -d " " -f 1 >"in.$PMIX_RANK"'
inputs() {
  cat in.*
  rm -f in.*
}
job -n 3 sh -c "$reads" <input
check_equal "I6" "196, 197: 20 MB for rank 0" \
  "$digest_of_input $digest_of_nothing $digest_of_nothing" "$(inputs | xargs)"
cat input | job -n 3 --stdin 2 sh -c "$reads"
check_equal "I6" "196: 20 MB for rank 2, from a pipe" \
  "$digest_of_nothing $digest_of_nothing $digest_of_input" "$(inputs | xargs)"
job -n 3 --stdin all sh -c "$reads" <input
check_equal "I6" "196, 197: 20 MB for three processes" \
  "$digest_of_input $digest_of_input $digest_of_input" "$(inputs | xargs)"
job -n 4 --stdin all sh -c '
  case $PMIX_RANK in
    1) sleep 0.3 ;;
    2) exit 0 ;;
    3) head -c 100 >/dev/null; exec sleep 0.2 <&- ;;
  esac
  '"$reads" <input
check_equal "I6" \
  "196: 20 MB for all, one slow, one dead, one that stops to read" \
  "$digest_of_input $digest_of_input" "$(inputs | head -n 2 | xargs)"
check_equal "I6" "197: the end comes once, after all bytes" "3 0" \
  "$({ printf a; sleep 0.1; printf bc; } \
     | job -n 1 sh -c 'echo "$(wc -c) $(wc -c)"')"
mkfifo endless
unread() {
  # Open for writing, too: there is no end.
  within 10 troupe run -n 1 true <>endless
}
check "I6" "a job that does not read ends before its input does" unread
# The process reads once its source has come to a halt.
flow() {
  {
    head -c 20000000 /dev/zero &
    echo $! >writer
    wait
    : >all_written
  } | job -n 1 sh -c 'until [ -e go ]; do sleep 0.02; done; exec cat >/dev/null' &
  stuck && [ ! -e all_written ] || return 1
  touch go
  wait $! && [ -e all_written ]
}
check "I18" "196: a process that does not read holds up who writes to it" flow

clean "I17" "nothing is left"
finish
