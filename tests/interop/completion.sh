# Completion in bash and zsh: what is offered of a real DVM, whatever signs bash takes
# for the end of a word, and without a DVM.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

export PATH=$TROUPE_BIN:$PATH
cd "$TROUPE_WORK" || exit 1
shells=$TROUPE_SOURCE/tools/completion

# in_bash LINE: what bash offers for the word at the end of the line.
in_bash() {
  # shellcheck disable=SC2016
  within "$((20 * slow))" bash --norc -c '
    . "$1/troupe.bash"
    COMP_WORDBREAKS=$3 COMP_LINE=$2 COMP_POINT=${#2}
    _troupe troupe
    printf "%s\n" "${COMPREPLY[@]}"' bash "$shells" "$1" "$breaks" </dev/null | xargs
}
# What an interactive bash has.
breaks=$' \t\n"\'@><=;|&(:'
# in_zsh LINE: the same; compadd and its like are zsh-internal and stand in here.
in_zsh() {
  # shellcheck disable=SC2016
  within "$((20 * slow))" zsh -f -c '
    compadd() { shift; print -l -- "$@" }
    _files() { print -l -- FILES }
    words=(${(z)2}) service=troupe
    [[ $2 != *" " ]] || words+=("")
    CURRENT=$#words PREFIX=$words[-1]
    . "$1/_troupe"' zsh "$shells" "$1" </dev/null | xargs
}

# -- without a DVM -----------------------------------------------------------------

check_match "MAN-3" "commands" '(^| )run .*ctl' "$(in_bash 'troupe ')"
check_equal "MAN-3" "a command that has been begun" "ctl" "$(in_bash 'troupe ct')"
check_equal "MAN-3" "the commands of a verb" "kill" "$(in_bash 'troupe ctl k')"
check_equal "MAN-3" "options" "--hostfile" "$(in_bash 'troupe run --hostf')"
check_equal "MAN-3" "topics of help" "errors" "$(in_bash 'troupe help err')"
check_equal "MAN-3" "nothing, and no error" "" "$(in_bash 'troupe attach ')"
check_equal "MAN-3" "a link, a path and a home" "ctl" "$(
  ln -s "$TROUPE_BIN/troupe" troupe
  # shellcheck disable=SC2016,SC2088
  HOME=$PWD bash --norc -c '. "$1/troupe.bash"
    COMP_LINE="~/troupe ct" COMP_POINT=11
    _troupe "~/troupe"
    echo "${COMPREPLY[@]}"' bash "$shells")"
rm troupe
# shellcheck disable=SC2016
check_match "MAN-3" "the daemon" '--bootstrap' "$(bash --norc -c '. "$1/troupe.bash"
  _trouped trouped --b
  echo "${COMPREPLY[@]}"' bash "$shells")"

# -- with one ----------------------------------------------------------------------

build group_stays
cat >here.sh <<'END'
#!/bin/sh
# Called as a remote shell: HOST COMMAND ARGUMENTS...
shift
exec "$@"
END
chmod +x here.sh
troupe up --name completed --node a --host a:4,b:4 --remote-shell "$PWD/here.sh" >up 2>up.err \
  </dev/null &
dvm=$!
eventually 30 grep -qx "DVM ready" up || { failed "" "a DVM"; cat up.err; finish; }
within $((120 * slow)) troupe run --dvm completed -n 4 ./group_stays stays >groups.out \
  2>&1 </dev/null &
job=$!
eventually 20 sh -c "troupe group list --dvm completed | grep -q '^app.shown  *complete'"
nspace=$(troupe jobs --dvm completed | awk 'NR == 2 { print $1 }')

for shell in bash zsh; do
  if ! command -v "$shell" >/dev/null; then
    skip "MAN-3" "$shell" "there is no $shell"
    continue
  fi
  check_equal "MAN-3" "$shell: DVMs" "completed" "$(in_$shell 'troupe run --dvm co')"
  check_equal "MAN-3" "$shell: jobs" "$nspace" "$(in_$shell "troupe attach comp")"
  check_equal "MAN-3" "$shell: groups" "app.shown" "$(in_$shell 'troupe group show app.s')"
  check_equal "MAN-3" "$shell: nodes" "a b" \
    "$(in_$shell 'troupe run --dvm completed --host ')"
  check_equal "MAN-3" "$shell: signals" "USR1 USR2" "$(in_$shell 'troupe ctl signal USR')"
done
check_equal "MAN-3" "bash: ranks behind the colon, which ends a word" "0 1 2 3" \
  "$(in_bash "troupe ctl kill $nspace:")"
check_equal "MAN-3" "bash: behind an equals sign" "completed" \
  "$(in_bash 'troupe run --dvm=co')"
if command -v zsh >/dev/null; then
  check_equal "MAN-3" "zsh: ranks with their job" \
    "$nspace:0 $nspace:1 $nspace:2 $nspace:3" "$(in_zsh "troupe ctl kill $nspace:")"
  check_equal "MAN-3" "zsh: files where nothing of ours belongs" "FILES" \
    "$(in_zsh 'troupe run --hostfile ')"
fi

# A DVM that says nothing holds nobody up.
kill -STOP "$dvm"
begin=$SECONDS
check_equal "MAN-3" "a DVM that was stopped offers nothing" "" "$(in_bash 'troupe attach ')"
check "MAN-3" "in bounded time" test $((SECONDS - begin)) -le $((5 * slow))
kill -CONT "$dvm"

touch call leave go end
within $((60 * slow)) tail --pid="$job" -f /dev/null
wait "$job"
within $((30 * slow)) troupe down --dvm completed >/dev/null 2>&1
wait "$dvm"
clean "MAN-3" "nothing is left"
finish
