# To be sourced after jobs.sh: floods of events for one who registers before
# the most of them and one who registers behind all of them. 64 MiB on disk hold
# the newest 182,000 or so, which the second gets; what is owed holds the source
# back instead, so that the first gets all.

build event_flow

# flood N: N events; what the processes say is in the file `flow`.
flood() {
  limit=500 job -n 3 ./event_flow flood "$1" 2>&1 | tee flow
  [ "${PIPESTATUS[0]}" -eq 0 ]
}

# flood_within N: as many as are kept, so both get all of them.
flood_within() {
  flood "$1" && [ "$(grep -c "^rank [12]: $1 events, all, once, in order" flow)" -eq 2 ]
}

# flood_beyond N: more than are kept: who comes late gets the newest, and what
# it gets and the number in its gap record make N.
flood_beyond() {
  flood "$1" \
    && grep -q "^rank 1: $1 events, all, once, in order" flow \
    && awk -v n="$1" '/^rank 2: .*, the newest, once, in order/ {
        found = $3 >= 150000 && $10 > 0 && $3 + $10 == n
      } END { exit !found }' flow
}

# bounded: the server took 128 MiB more than before, at most.
bounded() {
  awk '/^memory of the server/ { found = 1; exit !($9 - $5 <= 131072) }
    END { if (!found) exit 1 }' flow
}

# floods FORM N DESCRIPTION: what holds for a flood.
floods() {
  check "P-J1 P-J2 P-J3 P-J5 E11 E12" "$3" "flood_$1" "$2"
  grep '^memory\|^raised' flow
  check "P-J5 E12" "$3, in bounded memory" bounded
}
