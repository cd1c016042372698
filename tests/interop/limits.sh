# What our programs do where something is short: descriptors, memory, files, a
# directory, streams, variables. Either they work, or they say why in one line;
# none ends by a signal or an exception, and nothing is left behind.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build dies
troupe=$TROUPE_BIN/troupe
trouped=$TROUPE_BIN/trouped
scratch=$TROUPE_WORK/scratch
mkdir -p "$scratch"

# -- limits --------------------------------------------------------------------

# Each runs a command under one of them.
removed_directory() {
  local gone
  gone=$(mktemp -d "$scratch/gone.XXXXXX")
  cd "$gone" && rmdir "$gone" && "$@"
}
descriptors_8() { ulimit -n 8 && "$@"; }
descriptors_40() { ulimit -n 40 && "$@"; }
descriptors_64() { ulimit -n 64 && "$@"; }
no_files() { ulimit -f 0 && "$@"; }
memory_of() { ulimit -v "$1" && shift && "$@"; }
no_directory() { TMPDIR=/no/such/directory "$@"; }
no_variables() { env -u HOME -u PATH -u USER "$@"; }
no_environment() { env -i TROUPE_MARK="$TROUPE_MARK" "$@"; }
closed_input() { "$@" <&-; }
closed_output() { "$@" >&-; }
closed_streams() { "$@" <&- >&- 2>&-; }
full_output() { "$@" >/dev/full; }

# A file system of its own in the place of TMPDIR.
mounted() {
  local options=$1
  shift
  mkdir -p "$scratch/mounted"
  # shellcheck disable=SC2016
  TMPDIR=$scratch/mounted unshare -m sh -c '
    options=$1 && shift
    mount -t tmpfs -o "size=4k,$options" tmpfs "$TMPDIR" || exit 120
    [ "$options" = ro ] || head -c 4096 /dev/zero >"$TMPDIR/filled"
    exec "$@"' sh "$options" "$@"
}
read_only() { mounted ro "$@"; }
full_blocks() { mounted rw "$@"; }
full_inodes() { mounted nr_inodes=2 "$@"; }

long_name() {
  # shellcheck disable=SC2016
  unshare -u sh -c 'hostname "$(printf "%064d" 0 | tr 0 h)" && exec "$@"' \
    sh "$@"
}

# -- the matrix ----------------------------------------------------------------

# errors: the lines on standard error, without what is only a notice.
errors() {
  grep -v "^troupe: the DVM limits is up; " "$scratch/said"
}

# in_order STATUS: whether a program of ours may end so; $scratch/said is what
# it wrote on standard error.
in_order() {
  local status=$1
  if grep -Eq "terminate called|what\(\)|core dumped|Sanitizer" "$scratch/said"; then
    cat "$scratch/said"
    return 1
  fi
  # 124 is our own time-out.
  case $status in
    0 | 1 | 2 | 3 | 74) return 0 ;;
    125) ;;
    127) # The loader's, before our first instruction.
      grep -Eq "error while loading shared libraries|cannot allocate TLS" \
        "$scratch/said" && return
      echo "status 127 of somebody else"
      return 1
      ;;
    *)
      echo "status $status"
      cat "$scratch/said"
      return 1
      ;;
  esac
  [ "$limit" = closed_streams ] || [ "$(errors | wc -l)" -eq 1 ] || {
    echo "125 without one line:"
    cat "$scratch/said"
    return 1
  }
}

# orderly COMMAND...: runs it under $limit, to its end.
orderly() {
  local status=0
  # Errors go through a pipe: files may be what is limited.
  within $((30 * slow)) bash -c "$functions; $limit \"\$@\"" bash "$@" \
    2>&1 >/dev/null </dev/null | cat >"$scratch/said"
  status=${PIPESTATUS[0]}
  in_order "$status"
}

# stays COMMAND...: the same for a daemon, which is told to end once it listens.
stays() {
  local status=0 daemon
  rm -f "$scratch/said" "$scratch/said.all"
  bash -c "$functions; $limit \"\$@\"" bash "$@" \
    2> >(cat >"$scratch/said"; : >"$scratch/said.all") >/dev/null </dev/null &
  daemon=$!
  eventually 20 listens_or_ended "$daemon" || {
    echo "neither ready nor over"
    kill -KILL "$daemon"
    return 1
  }
  while read -r pid; do kill -TERM "$pid"; done < <(family_of "$daemon")
  wait "$daemon" || status=$?
  # What it said may still be in the pipe.
  eventually 20 test -e "$scratch/said.all" || {
    echo "somebody still has its standard error"
    return 1
  }
  in_order "$status"
}

# family_of PID: its number, and those of what it has started.
family_of() {
  local child
  for child in $(pgrep -P "$1"); do family_of "$child"; done
  case $(cat "/proc/$1/comm" 2>/dev/null) in troupe*) echo "$1" ;; esac
}

listens_or_ended() {
  local pid
  kill -0 "$1" 2>/dev/null || return 0
  for pid in $(family_of "$1"); do
    ss -tlnpH | grep -q "pid=$pid," && return 0
  done
  return 1
}

# What the shells of commands know.
functions="slow=$slow; scratch=$scratch; $(declare -f removed_directory \
  descriptors_8 descriptors_40 descriptors_64 no_files memory_of no_directory \
  no_variables no_environment closed_input closed_output closed_streams \
  full_output mounted read_only full_blocks full_inodes long_name)"

"$troupe" up --name limits --report-uri "$scratch/uri" >"$scratch/up" \
  2>"$scratch/up.err" </dev/null &
dvm=$!
eventually 30 grep -qx "DVM ready" "$scratch/up" || {
  failed "FIT-3" "a DVM to ask"
  cat "$scratch/up.err"
}

limits="removed_directory descriptors_8 descriptors_40 descriptors_64 no_files
  no_directory no_variables no_environment closed_input closed_output
  closed_streams full_output"
if unshare -m true 2>/dev/null && unshare -u true 2>/dev/null; then
  limits="$limits read_only full_blocks full_inodes long_name"
else
  skip "FIT-3" "full and read-only file systems, long names of hosts" \
    "this user may not make name spaces"
fi
if [ -z "${TROUPE_SANITIZER:-}" ]; then
  # From the least that the loader is content with, in growing steps.
  least=20000
  most=400000
  while [ $((most - least)) -gt 50 ]; do
    kib=$(((least + most) / 2))
    if bash -c "ulimit -v $kib; '$troupe' version; exit \$?" \
      >/dev/null 2>&1; then
      most=$kib
    else
      least=$kib
    fi
  done
  for more in 0 200 1000 9000; do
    limits="$limits memory_of@$((most + more))"
  done
  # What we ask for at least, and somewhat more.
  limits="$limits memory_of@131071 memory_of@131072 memory_of@150000"
else
  skip "FIT-3" "little memory" "sanitizers reserve terabytes of addresses"
fi

for limit in $limits; do
  name=$limit
  limit=${limit/@/ }
  while read -r command; do
    # shellcheck disable=SC2086
    check "FIT-3" "$name: troupe $command" orderly "$troupe" $command
  done <<'END'
version
--help
nonsense
run --help
run --oversubscribe -n 2 /bin/true
run --oversubscribe -n 2 --host localhost /bin/true
run --dvm limits --oversubscribe -n 2 /bin/true
nodes --dvm limits
jobs --dvm limits --json
ps --dvm limits
net --dvm limits
io list --dvm limits
events list --dvm limits
monitor list --dvm limits
group list --dvm limits
ctl status --dvm limits nothing
attach --dvm limits nothing
authority --name x /no/such/directory/authority
config show
down --dvm no-such-dvm
END
  check "FIT-3" "$name: troupe up" stays "$troupe" up --name short
  check "FIT-3" "$name: trouped" stays "$trouped"
  check "FIT-3" "$name: trouped --nonsense" orderly "$trouped" --join
done

# -- what is said --------------------------------------------------------------

# refused REGEX LIMIT COMMAND...: 125, and one line.
refused() {
  local regex=$1 limit=$2 status=0
  shift 2
  within $((30 * slow)) bash -c "$functions; $limit \"\$@\"" bash "$@" \
    2>"$scratch/said" || status=$?
  cat "$scratch/said"
  [ "$status" -eq 125 ] || { echo "status $status"; return 1; }
  [ "$(errors | wc -l)" -eq 1 ] || { echo "not one line"; return 1; }
  errors | grep -Eq "$regex"
}

check "FIT-3" "a directory that is gone is named, and the way out" \
  refused 'working directory cannot be used: No such file.*\(cd\)$' \
  removed_directory "$troupe" run -n 1 /bin/true
check "FIT-1" "8 descriptors: the limit, its value and the need" \
  refused '^troupe: the limit of open files \(ulimit -n\) is 8, and [0-9]+ ' \
  descriptors_8 "$troupe" run -n 1 /bin/true
check "FIT-3" "too little memory: the limit, its value and the need" \
  refused '\(ulimit -v\) is 100000 KiB, and 131072 are needed' \
  "memory_of 100000" "$troupe" run -n 1 /bin/true
check "FIT-1" "64 descriptors and 4 ranks: refused instead of a hang" \
  refused 'limit of open files \(ulimit -n\) is 64, and [0-9]+ ' \
  descriptors_64 "$troupe" run --oversubscribe -n 4 ./dies nobody
check "FIT-1" "64 descriptors: a daemon, too" \
  refused '^trouped: the limit of open files \(ulimit -n\) is 64, and [0-9]+ ' \
  descriptors_64 "$trouped"

# -- descriptors ---------------------------------------------------------------

# Ranks at a hard limit of 256, one more at a time: each number runs or is
# refused before any process is started, and there is no number between.
edge() {
  local n status last=0 first=0
  for n in 10 20 24 25 26 27 28 29 30 31 32 33 34 35 36 38 40 60; do
    status=0
    rm -f began.*
    (ulimit -n 256 && within $((30 * slow)) "$troupe" run --oversubscribe \
      -n "$n" sh -c 'touch began.$$; exec ./dies nobody') 2>"$scratch/said" \
      </dev/null || status=$?
    case $status in
      0)
        last=$n
        [ "$first" -eq 0 ] || { echo "$first did not run, $n did"; return 1; }
        ;;
      125)
        [ "$first" -gt 0 ] || first=$n
        [ "$(errors | wc -l)" -eq 1 ] \
          && grep -Eq "is 256 on .*, and $n processes there need [0-9]+ " \
            "$scratch/said" || { cat "$scratch/said"; return 1; }
        ! ls began.* >/dev/null 2>&1 || { echo "$n: some began"; return 1; }
        ;;
      *)
        echo "$n ranks: status $status"
        cat "$scratch/said"
        return 1
        ;;
    esac
  done
  echo "up to $last run, from $first on they are refused"
  [ "$last" -gt 0 ] && [ "$first" -gt 0 ]
}
check "FIT-1" "at a limit of 256 a job runs or is refused before it begins" edge
sed 's/^/     /' "$TROUPE_WORK/output" | tail -n 1

check_equal "FIT-2" "processes get the limits that they would have had" \
  "$(bash -c 'ulimit -Sn 512; ulimit -Hn 4096; ulimit -Sn; ulimit -Hn')" \
  "$(bash -c "ulimit -Sn 512; ulimit -Hn 4096; exec '$troupe' run -n 1 \
    sh -c 'ulimit -Sn; ulimit -Hn'")"
check_equal "FIT-2" "on a terminal, and in a process that they start, too" \
  "512" "$(bash -c "ulimit -Sn 512; exec '$troupe' run -n 1 --pty \
    sh -c 'sh -c \"ulimit -Sn\"'" </dev/null | tr -d '\r')"

# Daemons on other nodes check their own share.
cat >here.sh <<'END'
#!/bin/sh
# Called as a remote shell: HOST COMMAND...; the node named tight has little.
host=$1
shift
[ "$host" != tight ] || ulimit -n 128
exec "$@"
END
chmod +x here.sh
on_nodes() {
  "$troupe" run --oversubscribe --remote-shell "$folder/here.sh" \
    --host "wide:8,tight:$1" -n $((8 + $1)) --map-by slot \
    sh -c 'touch began.$$'
}
functions="$functions; folder=$PWD; troupe=$troupe; $(declare -f on_nodes)"
rm -f began.*
check "FIT-1" "a node whose limit is too low for its share is named" \
  refused 'is 128 on tight, and 40 processes there need [0-9]+ ' on_nodes 40
check_equal "FIT-1" "and no process has begun anywhere" "" "$(ls began.* 2>&-)"
check "FIT-1" "a share that fits runs" \
  within $((60 * slow)) bash -c "$functions; on_nodes 2"

# -- the end -------------------------------------------------------------------

within $((20 * slow)) "$troupe" down --dvm limits || kill "$dvm"
wait "$dvm"
clean "FIT-3" "nothing is left of all that"
finish
