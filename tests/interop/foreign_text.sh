# What processes and users write reaches no terminal as it is: no control
# character, no line that looks like one of others.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build foreign_text
cd "$TROUPE_WORK" || exit 1

# harmless STATUS COMMAND...: it ends with that status and shows the text, but
# nothing of it can be obeyed or taken for a line of its own.
harmless() {
  local expected=$1 outcome=0
  shift
  within "$((30 * slow))" "$@" >shown 2>&1 </dev/null || outcome=$?
  cat -v shown
  [ "$outcome" -eq "$expected" ] || { echo "status $outcome"; return 1; }
  is_harmless shown
}
is_harmless() {
  grep -aq forged "$1" || { echo "the text is not shown"; return 1; }
  ! grep -aq '^forged' "$1" || { echo "a forged line"; return 1; }
  ! LC_ALL=C grep -aqP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$1" \
    || { echo "a control character"; return 1; }
}

# -- the launcher --------------------------------------------------------------

check "MND-A7" "the text of an abort" harmless 3 troupe run ./foreign_text abort
check "MND-A7" "in JSON, too" harmless 3 troupe run --json ./foreign_text abort
cat >here.sh <<'END'
#!/bin/sh
# Called as a remote shell: HOST COMMAND ARGUMENTS...
shift
exec "$@"
END
chmod +x here.sh
check "MND-A7" "on two nodes" harmless 3 troupe run --host a:1,b:1 \
  --remote-shell "$PWD/here.sh" -n 2 ./foreign_text abort
name=$'forged\e]0;owned\a\nforged: x'
printf '#!/bin/sh\nexit 7\n' >"$name"
chmod +x "$name"
check "MND-A7" "the name of a program that fails" harmless 7 troupe run "./$name"
check "MND-A7" "of one that is mapped" \
  harmless 7 troupe run --display map "./$name"
check "MND-A7" "of one that is not there" \
  harmless 127 troupe run "./missing $name"
check "MND-A7" "of an option that is none" harmless 2 troupe run "--$name"
check "MND-A7" "of a command that is none" harmless 2 troupe "$name"
check "MND-A7" "of a DVM that is none" harmless 1 troupe ps --dvm "$name"
check "MND-A7" "of a host that is none" harmless 2 troupe run --host \
  "forged"$'\e'"[2J:1,b:1" --remote-shell false true

# -- the library ---------------------------------------------------------------

LD_LIBRARY_PATH=$TROUPE_LIB troupe run ./foreign_text handler >named 2>&1 \
  </dev/null &
job_pid=$!
eventually 30 grep -aq 'has not completed' named
: >go
wait "$job_pid"
rm go
check "MND-A7" "the name of a handler, in what libpmix says" is_harmless named

# -- a DVM ---------------------------------------------------------------------

troupe up --name texts >up.out 2>up.err </dev/null &
root=$!
check "MND-A7" "a DVM" eventually 30 grep -qx "DVM ready" up.out
check "MND-A7" "the text of an abort in a DVM" \
  harmless 3 troupe run --dvm texts ./foreign_text abort
troupe events watch --dvm texts >watched 2>&1 </dev/null &
watcher=$!
eventually 10 grep -q watching watched
troupe run --dvm texts ./foreign_text event >/dev/null 2>&1 </dev/null &
job_pid=$!
shown() { eventually 10 grep -aq forged watched; is_harmless watched; }
check "MND-A7" "the text of an event" shown
kill "$watcher"
wait "$watcher"
check "MND-A7" "the same, kept" harmless 0 troupe events list --dvm texts
check "MND-A7" "and in JSON" harmless 0 troupe events list --json --dvm texts
: >go
wait "$job_pid"
rm go

printf '#!/bin/sh\nuntil [ -e go ]; do sleep 0.1; done\n' >"$name"
troupe run --dvm texts "./$name" >job.out 2>&1 </dev/null &
job_pid=$!
eventually 20 sh -c 'troupe jobs --dvm texts | grep -q forged'
check "MND-A7" "the name of a program in troupe jobs" \
  harmless 0 troupe jobs --dvm texts
check "MND-A7" "and in JSON" harmless 0 troupe jobs --json --dvm texts
troupe run --dvm texts ./foreign_text group >group.out 2>&1 </dev/null &
group_pid=$!
eventually 20 grep -q 'group: ' group.out
if grep -qx 'group: 0' group.out; then
  check "MND-A7" "the name of a group" harmless 0 troupe group list --dvm texts
  check "MND-A7" "and in JSON" harmless 0 troupe group list --json --dvm texts
else
  check_match "MND-A7" "no group has such a name" '^group: -[0-9]+$' \
    "$(cat group.out)"
fi
: >go
wait "$job_pid" "$group_pid"
within 30 troupe down --dvm texts
wait "$root"
check "MND-A7" "nothing of it in the log of the DVM" sh -c \
  "! LC_ALL=C grep -aqP '[\x00-\x08\x0b-\x1f\x7f]' up.err"

# -- one function --------------------------------------------------------------

# What goes to standard error is made by one function, or holds nothing foreign.
elsewhere() {
  local left
  left=$(cd "$TROUPE_SOURCE/tools" && {
    tr -s '\n ' ' ' <"$1" | grep -oE '(std::cerr <<|err_?(\(\))?->write\().{0,60}' \
      | grep -vE '(cerr <<|write\() ?((troupe::)?notice\(|usage|line\)|"", |"\\r" \+ (line|std::string\{erase_line\})|allocation_text|map_text|"watching " \+ escape|// |flag\(options_.job)'
  })
  [ -z "$left" ] || { echo "$1: $left"; return 1; }
}
all_by_notice() {
  local outcome=0 file
  for file in $(cd "$TROUPE_SOURCE/tools" && ls ./*.cpp); do
    elsewhere "$file" || outcome=1
  done
  return "$outcome"
}
check "MND-A7" "all tools say it by tools/notice" all_by_notice

rm -f "$name" go
clean "MND-A7" "nothing is left"
finish
