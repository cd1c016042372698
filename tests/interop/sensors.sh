# Real processes hear of what happens to their node: from a tree of files that
# looks like the kernel's, and from the kernel itself.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

export PATH=$TROUPE_BIN:$PATH
cd "$TROUPE_WORK" || exit 1
build environment

# -- a job that hears ----------------------------------------------------------

# start [OPTION]... PROGRAM...: starts a job and waits until it is ready.
start() {
  : >out
  job "$@" >out 2>err &
  job_pid=$!
  eventually 20 grep -qx ready out && return
  sed 's/^/     | /' out err
  return 1
}

# over: waits for the end of the job; what it said is in `said`.
over() {
  local outcome=0
  wait "$job_pid" || outcome=$?
  said=$(grep -v '^ready$' out)
  [ "$outcome" -eq 0 ] || sed 's/^/     | /' out err
  return "$outcome"
}

heard() { [ "$(grep -c "^$1: " out)" -ge "$2" ]; }

# -- hardware, as a tree of files ----------------------------------------------

tree=$TROUPE_WORK/tree
hwmon=$tree/sys/class/hwmon/hwmon0
mc=$tree/sys/devices/system/edac/mc/mc0
mkdir -p "$hwmon" "$mc/dimm1" "$tree/proc/pressure"
put() { printf '%s\n' "$2" >"$1.new" && mv "$1.new" "$1"; }
put "$hwmon/name" coretemp
put "$hwmon/temp1_label" "Core 0"
put "$hwmon/temp1_max" 80000
put "$hwmon/temp1_crit" 100000
put "$mc/ce_noinfo_count" 0
put "$mc/ue_noinfo_count" 0
put "$mc/dimm1/dimm_label" DIMM_B2
put "$tree/proc/vmstat" "oom_kill 5"
cool() {
  put "$hwmon/temp1_input" 40000
  put "$mc/dimm1/dimm_ce_count" 17
  put "$mc/dimm1/dimm_ue_count" 0
  put "$tree/proc/pressure/memory" "some avg10=0.00 avg60=0.00 avg300=0.00 total=0"
}
watched=(--sensor "root=$tree" --sensor interval=0.05)

cool
if start "${watched[@]}" -n 2 ./environment hears 1 8 -32231 -32232 -32233 \
  -32234 -32235 -32238 -32239 -32240; then
  put "$hwmon/temp1_input" 85500
  eventually 10 heard 1 1
  put "$hwmon/temp1_input" 101000
  eventually 10 heard 1 2
  put "$hwmon/temp1_input" 30000
  eventually 10 heard 1 3
  put "$mc/dimm1/dimm_ce_count" 20
  eventually 10 heard 1 4
  put "$mc/dimm1/dimm_ue_count" 1
  eventually 10 heard 1 5
  put "$tree/proc/pressure/memory" "some avg10=61.25 avg60=0.87 avg300=0.73 total=4192"
  eventually 10 heard 1 6
  put "$tree/proc/pressure/memory" "some avg10=2.50 avg60=0.87 avg300=0.73 total=4192"
  eventually 10 heard 1 7
  put "$tree/proc/vmstat" "oom_kill 6"
fi
check "E48" "a process hears of eight events of its node, another of none" over
hears_line() {
  check_match "E4 E48" "$1" "^1: $2( |\$)" "$said"
}
said=$(sed -E 's/ (host|node|time)=[^ ]*//g' <<<"$said")
hears_line "a chip is too hot" \
  "-32233 device=hwmon0/temp1 label=coretemp Core 0 value=85.5 limit=80.0"
hears_line "and hotter" \
  "-32234 device=hwmon0/temp1 label=coretemp Core 0 value=101.0 limit=100.0"
hears_line "and cool again" \
  "-32235 device=hwmon0/temp1 label=coretemp Core 0 value=30.0 limit=80.0"
hears_line "memory erred three times" \
  "-32231 device=mc0/dimm1 label=DIMM_B2 count=3"
hears_line "memory lost data" "-32232 device=mc0/dimm1 label=DIMM_B2 count=1"
hears_line "memory is scarce" "-32238 device=node value=61.2 limit=40.0"
hears_line "and no more" "-32239 device=node value=2.5 limit=40.0"
hears_line "the kernel killed for memory" "-32240 device=node count=1"
check_equal "E48" "each event came once" 8 "$(wc -l <<<"$said")"
check_equal "E48" "events say where and when" 8 \
  "$(grep -c " host=$(uname -n) time=some node=0" out)"

# Who registers late has it all, in the order in which it happened.
cool
put "$tree/proc/vmstat" "oom_kill 5"
rm -f last
if start "${watched[@]}" -n 2 ./environment late 3 last -32233 -32235; then
  put "$hwmon/temp1_input" 90000
  eventually 10 heard 0 1
  put "$hwmon/temp1_input" 30000
  eventually 10 heard 0 2
  put "$hwmon/temp1_input" 81000
  eventually 10 heard 0 3
  : >last
fi
check "E8 E44" "who registers late hears of three events, too" over
numbers() { sed -nE "s/^$1: (-[0-9]+) .*/\1/p" <<<"$said" | paste -sd' '; }
check_equal "E8" "in the order in which they happened" \
  "-32233 -32235 -32233" "$(numbers 1)"
check_equal "E8" "as those who had registered before" \
  "$(numbers 0)" "$(numbers 1)"

# MPI libraries take an event that they do not know for a failure.
cool
if start "${watched[@]}" -n 1 ./environment default 1 -32233; then
  put "$hwmon/temp1_input" 90000
fi
check "E4 E48" "a default handler is left alone" over

# What is too hot when somebody registers is an event; and nothing is one where
# sensors are off.
check "E48" "what is too hot already is an event" \
  job "${watched[@]}" -n 1 ./environment hears 0 1 -32233
check "E4" "with sensors off there are no events" \
  job "${watched[@]}" --sensor off -n 1 ./environment nothing 2 -32233

# -- the kernel itself ---------------------------------------------------------

disk=$TROUPE_WORK/disk
mkdir -p "$disk"
if reason=$(mount -t tmpfs -o size=1m troupe-test "$disk" 2>&1); then
  if start --sensor "file-system=$disk" --sensor interval=0.05 \
    -n 2 ./environment hears 0 2 -32241 -32242; then
    head -c 1040000 /dev/zero >"$disk/big"
    eventually 10 heard 0 1
    rm "$disk/big"
  fi
  check "E48" "a process hears that a file system is full, and no more" over
  check_match "E48" "with the file system and how full it is" \
    "^0: -32241 device=$disk label=space value=(9[5-9]|100)\.[0-9] limit=95.0" "$said"
  check_match "E48" "and that there is room again" \
    "^0: -32242 device=$disk label=(space|files) value=" "$said"
  umount "$disk"
else
  skip "E48" "a file system that is full" "no tmpfs can be mounted: $reason"
fi

# A control group of its own, in which a process takes more than there is.
group=
for root in /sys/fs/cgroup/memory /sys/fs/cgroup; do
  group=$root/troupe-test-$$
  limit_file=$group/memory.limit_in_bytes
  [ "$root" = /sys/fs/cgroup/memory ] || limit_file=$group/memory.max
  mkdir "$group" 2>/dev/null && [ -w "$limit_file" ] \
    && echo 33554432 >"$limit_file" 2>/dev/null && break
  rmdir "$group" 2>/dev/null
  group=
done
if [ -n "$group" ]; then
  hog='echo $$ >"$1/cgroup.procs" && exec /usr/bin/python3 -c "bytearray(300 << 20)"'
  if start --sensor "cgroup=$group" --sensor interval=0.05 \
    -n 2 ./environment hears 0 1 -32240; then
    bash -c "$hog" hog "$group" >/dev/null 2>&1 || true
  fi
  check "E48" "a process hears that the kernel has killed for memory" over
  check_match "E48" "with the group and the number" \
    "^0: -32240 device=$group count=1( |\$)" "$said"
  rmdir "$group"
else
  skip "E48" "a process that the kernel kills for memory" \
    "no control group of memory can be made here"
fi

# -- a sensor of one's own -----------------------------------------------------

oven=$TROUPE_WORK/oven
echo 20 >"$oven"
: >out
within 60 "$TROUPE_BIN/temperature_sensor" "$oven" ./environment hears 0 2 \
  -32300 >out 2>err &
job_pid=$!
if eventually 20 grep -qx ready out; then
  echo 230.5 >"$oven"
  eventually 10 heard 0 1
  echo 25 >"$oven"
fi
check "E4 E48" "a process hears of a site's own sensor" over
check_match "E48" "and what it measured" \
  "^0: -32300 device=oven value=230.5 limit=200.0" "$said"

# -- bad input -----------------------------------------------------------------

check_match "E4" "a wrong setting is refused with its remedy" \
  "file-system=tmp; write the path of a directory" \
  "$(troupe run --sensor file-system=tmp -n 1 true 2>&1)"
check_match "E4" "and one that is not known" "known are root, sysfs" \
  "$(troupe run --sensor colour=red -n 1 true 2>&1)"

clean "F5.20" "nothing is left behind"
finish
