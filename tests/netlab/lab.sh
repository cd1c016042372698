# To be sourced by the scripts of this folder, after check.sh and jobs.sh: a lab
# of its own for each script, taken down when the script ends however it ends.

netlab=$TROUPE_SOURCE/scripts/netlab
lab_programs=$TROUPE_SOURCE/tests/netlab/programs
export TROUPE_LAB="troupe-t$$"
lab_background=()

# no_races: whether the thread sanitizer has seen none. What it sees goes to files, since
# nodes are killed.
export TSAN_OPTIONS="${TSAN_OPTIONS:-} log_path=$TROUPE_WORK/races"
no_races() { ! cat "$TROUPE_WORK"/races.*; }

# need_lab IDENTIFIERS: ends the script, saying why, where no lab is possible.
need_lab() {
  local reason
  reason=$("$netlab" check 2>&1) && return
  skip "$1" "nodes in network namespaces" "$reason"
  finish
}

# lab N [K] [OPTION]...: makes a lab; the script fails without.
lab() {
  "$netlab" up "$@" && return
  failed "" "making a lab: $*"
  finish
}

# on NODE COMMAND...: runs a command on a node.
on() { "$netlab" exec "$@"; }

# background NODE COMMAND...: starts a command on a node; its number is in
# `background_pid`. What is left of them ends with the script.
background() {
  "$netlab" exec "$@" </dev/null &
  background_pid=$!
  disown "$background_pid"
  lab_background+=("$background_pid")
}

end_lab() {
  local pid
  for pid in ${lab_background[@]+"${lab_background[@]}"}; do
    kill -9 "$pid" 2>/dev/null
  done
  lab_background=()
  "$netlab" down
}

trap 'end_lab
  [ "$checks_finished" = yes ] || echo "the script stopped before finish"' EXIT
trap 'exit 1' INT TERM HUP
