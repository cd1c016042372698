# To be sourced after check.sh and jobs.sh: commands of ours that ask a DVM.

commands=("nodes" "jobs" "ps" "net" "events list" "group list" "io list"
  "ctl status")

# each NAME DESCRIPTION HOW SECONDS DVM COMMAND...: asks all of it at once, since most
# of the time passes in sleep.
each() {
  local name=$1 description=$2 how=$3 seconds=$4 dvm=$5 command pid outcome
  local -A asked=()
  shift 5
  for command in "$@"; do
    # shellcheck disable=SC2086
    (TROUPE_WORK=$PWD/$name.${command// /.} && mkdir "$TROUPE_WORK" \
      && $how "$seconds" troupe $command --dvm "$dvm") \
      >"$name.${command// /.}.out" 2>&1 &
    asked["$!"]=$command
  done
  for pid in "${!asked[@]}"; do
    outcome=0
    wait "$pid" || outcome=$?
    check "MND-A12" "troupe ${asked[$pid]} of $description" bash -c \
      "cat '$name.${asked[$pid]// /.}.out'; exit $outcome"
  done
}
