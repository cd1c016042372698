# To be sourced after jobs.sh: groups in turn, as many as one likes.

# grows_not COUNT JOB...: passes if the last ones take no more time than the first
# ones, and the server not a MiB more.
grows_not() {
  local count=$1
  shift
  "$@" -n 2 ./groups many "$count" >many 2>&1 || { cat many; return 1; }
  cat many
  sed -n 's/^a group in turn: \([0-9]*\) us.* \([0-9]*\) us.* \([0-9]*\) KiB at f.* \([0-9]*\) KiB.*/\1 \2 \3 \4/p' \
    many | awk '{ found = 1; exit !($2 < 4 * $1 && $4 - $3 < 1024) }
                END { if (!found) exit 1 }'
}
