# Resource managers of our own, in C and C++, with the clients of both
# libraries; the C one also built with the headers of both.

. "$TROUPE_SOURCE/tests/interop/check.sh"

examples=$TROUPE_SOURCE/examples
include=$TROUPE_SOURCE/c_api/include
cc=${TROUPE_CC:-cc}
for source in embed_rm.cpp embed_rm.c; do
  check "C5.1 C5.2" "$source has less than 100 lines" \
    test "$(wc -l <"$examples/$source")" -lt 100
done
check "C5.2" "a client builds with Debian's headers" \
  compile_pmix "$examples/pmix_hello.c" theirs
check "C5.2" "a client builds with ours" "$cc" -std=gnu11 -Wall -I"$include" \
  -o ours "$examples/pmix_hello.c" -L"$TROUPE_LIB" -lpmix \
  -Wl,-rpath,"$TROUPE_LIB"
check "C5.2" "the C daemon builds with our headers" "$cc" -std=gnu11 -Wall \
  -I"$include" -o rm_ours "$examples/embed_rm.c" -L"$TROUPE_LIB" -lpmix \
  -Wl,-rpath,"$TROUPE_LIB"
check "C5.2 C4.1" "the C daemon builds with Debian's headers" \
  compile_pmix "$examples/embed_rm.c" rm_theirs

# serves DAEMON CLIENT: two processes find each other, and nobody complains.
serves() {
  within 60 "$@" 2>errors | tee output
  cat errors
  [ ! -s errors ] \
    && [ "$(grep -c '^embedded:[01] connected$' output)" -eq 2 ] \
    && grep -q '^pmix fence brought 2 of 2 values, event received$' output \
    && grep -q '^served 2 processes, 0 failed$' output
}
check "C5.1" "C++ daemon serves Debian's client" serves "$TROUPE_BIN/embed_rm" ./theirs
check "C5.1" "C++ daemon serves our client" serves "$TROUPE_BIN/embed_rm" ./ours

# forwards CLIENT: its processes push and pull; what they write is shown.
forwards() {
  within 60 "$TROUPE_BIN/embed_rm" "$@" peers 2>errors | tee output
  cat errors
  [ ! -s errors ] \
    && [ "$(grep -c '^3145728 right$' output)" -eq 1 ] \
    && [ "$(grep -c '^pulled: 3145728 right$' output)" -eq 1 ] \
    && grep -q '^served 2 processes, 0 failed$' output
}
peers=$TROUPE_SOURCE/tests/interop/programs/io_peers.c
check "I6" "a client of streams builds with Debian's headers" \
  compile_pmix "$peers" peers_theirs
check "I6" "and with ours" "$cc" -std=gnu11 -Wall -I"$include" -o peers_ours \
  "$peers" -L"$TROUPE_LIB" -lpmix -lpthread -Wl,-rpath,"$TROUPE_LIB"
for client in ./peers_theirs ./peers_ours; do
  check "I6 I15 I18 C5.1" "C++ daemon forwards the streams of $client" \
    forwards "$client"
done

check "C5.2 C4.6 C4.7" "C daemon serves Debian's client" serves ./rm_ours ./theirs
check "C5.2 C4.6 C4.7" "C daemon serves our client" serves ./rm_ours ./ours
check "C5.2 C4.1" "C daemon of Debian's headers on our library" \
  serves env LD_LIBRARY_PATH="$TROUPE_LIB" ./rm_theirs ./theirs
check "C5.2" "our client under Debian's library" serves ./rm_theirs ./ours

check "RUN-4" "an Open MPI program builds" compile_mpi "$examples/mpi_hello.c" hello
# runs_mpi DAEMON...: two processes of Open MPI find each other.
runs_mpi() {
  within 60 "$@" ./hello 2>errors | tee output
  cat errors
  grep -q '^mpi ring and allreduce over 2 processes: right$' output \
    && grep -q '^served 2 processes, 0 failed$' output
}
check "RUN-4" "C++ daemon runs Open MPI" runs_mpi "$TROUPE_BIN/embed_rm"
check "RUN-4" "C daemon runs Open MPI" runs_mpi ./rm_ours
check "RUN-4" "C daemon of Debian's headers on our library runs Open MPI" \
  runs_mpi env LD_LIBRARY_PATH="$TROUPE_LIB" ./rm_theirs
check "RUN-4" "C daemon runs Open MPI on Debian's library" runs_mpi ./rm_theirs
check "RUN-4" "C++ daemon runs Open MPI on our library" \
  runs_mpi env LD_LIBRARY_PATH="$TROUPE_LIB" "$TROUPE_BIN/embed_rm"

check "C5.2" "a client that gives up is reported" bash -c '
  printf "%s\n" "#include <pmix.h>" "int main(void) { pmix_proc_t me;" \
    "PMIx_Init(&me, NULL, 0); return PMIx_Abort(3, \"enough\", NULL, 0); }" >quits.c
  "$1" -o quits quits.c $(pkg-config --cflags --libs pmix) || exit
  timeout 60 ./rm_ours ./quits | tee output
  grep -q "^embedded:0 gives up: 3 enough$" output' - "$cc"
# -- events that memory has no room for -----------------------------------------

check "C12.9" "a daemon that keeps events builds" "$cc" -std=gnu11 -Wall -I"$include" \
  -o event_keeper "$TROUPE_SOURCE/tests/interop/programs/event_keeper.c" \
  -L"$TROUPE_LIB" -lpmix -lpthread -Wl,-rpath,"$TROUPE_LIB"
# 10 MiB of them, and there is memory for 4.
all="160 events, from 1 to 160, 0 missed"
check_equal "C12.9 E11" "a daemon in C keeps them on disk" "$all" \
  "$(within 60 ./event_keeper 160 2>&1)"
check_equal "C12.9" "and if it says so, whatever the environment" "$all" \
  "$(TROUPE_EVENT_SPOOL=0 within 60 ./event_keeper 160 yes 2>&1)"
# 110 MiB, of which a disk of 64 would hold the newest.
check_equal "C12.9 E11" "however many" "1800 events, from 1 to 1800, 0 missed" \
  "$(within 60 ./event_keeper 1800 2>&1)"
# fewer COMMAND...: the process has got the newest, not all, and was told how many
# it has missed.
fewer() {
  local said got
  said=$(within 60 "$@" 2>&1)
  echo "$said"
  [[ $said =~ ^([0-9]+)\ events,\ from\ ([0-9]+)\ to\ 160,\ ([0-9]+)\ missed$ ]] || return
  got=${BASH_REMATCH[1]}
  ((got > 0 && got < 100 && BASH_REMATCH[2] == 161 - got && BASH_REMATCH[3] == 160 - got))
}
check "C12.9 P-J5" "but not if it says no" fewer ./event_keeper 160 no
check "C12.9" "nor if the environment does" fewer env TROUPE_EVENT_SPOOL=0 ./event_keeper 160

finish
