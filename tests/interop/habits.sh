# What users of mpirun, prterun and srun type, word by word: the tables of
# docs/habits.md are run, row by row; then what has no row.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

export PATH=$TROUPE_BIN:$PATH
cd "$TROUPE_WORK" || exit 1
if [ "$(nproc)" -lt 2 ]; then
  skip "HAB-3" "words of other launchers" "the rows need two processors"
  finish
fi

# Nodes of other names, all on this machine: the remote shell runs its command
# here, whatever the node is called.
cat >here.sh <<'EOF'
#!/bin/sh
shift
exec "$@"
EOF
chmod +x here.sh
mkdir bin
printf '#!/bin/sh\necho mine\n' >bin/mine
chmod +x bin/mine
printf 'a:2\nb slots=2\n' >nodes
printf '# for all\nbtl = self\n' >settings
printf -- '-n 1 echo one # the first\n\n-np 1 echo two\n' >programs
printf 'rank 0=%s slot=0\n' "$(hostname)" >ranks

# The DVM is in a directory of its own: who runs a job beside it is told of it.
mkdir "$TMPDIR/dvm"
in_dvm() {
  TMPDIR=$TMPDIR/dvm "$@"
}
TMPDIR=$TMPDIR/dvm troupe up --name habits --remote-shell "$PWD/here.sh" --host a:2,b:2 \
  --report-uri uri >up 2>up.err </dev/null &
dvm=$!
check "HAB-3" "a DVM" eventually 30 grep -qx "DVM ready" up

# run ARGUMENTS: as a user types them; all that is shown, on one line.
run() {
  local directory=$TMPDIR
  case $1 in
    *--dvm* | *-hnp* | *--namespace* | *--pid* | *--system-server*)
      directory=$TMPDIR/dvm
      ;;
  esac
  eval "TMPDIR=$directory within $((60 * slow)) troupe run $1" 2>&1 </dev/null \
    | tr '\n' ' '
}

# usage_error DESCRIPTION REGEX ARGUMENTS...: status 2, and what is said.
usage_error() {
  local description=$1 regex=$2 said result=0
  shift 2
  said=$(within $((20 * slow)) "$@" 2>&1 >/dev/null </dev/null) || result=$?
  check_match "HAB-6" "$description" "^2 $regex" "$result $said"
}

# -- the tables ----------------------------------------------------------------

# values WORDS: one for each capital.
values() {
  local word
  for word in $1; do
    case $word in [A-Z]*) printf ' 1' ;; esac
  done
}

# check_row WORD FATE CHECK: runs a row.
check_row() {
  local word=${1%% *} fate=$2 arguments pattern said result=0
  case $fate in
    "acted on")
      pattern=${3##* → \`}
      arguments=${3%% → *}
      arguments=${arguments#\`}
      check_match "HAB-3" "$1 is acted on" "${pattern%\`}" \
        "$(run "${arguments%\`}")"
      ;;
    "left out")
      said=$(within $((60 * slow)) troupe run "$word" $(values "$1") true 2>&1 \
        </dev/null) || result=$?
      check_match "HAB-3" "$1 is left out with one notice" \
        "^0 1 .* left out: $word \(" \
        "$result $(wc -l <<<"$said") $said"
      ;;
    refused)
      said=$(within $((60 * slow)) troupe run "$word" $(values "$1") true 2>&1 \
        </dev/null) || result=$?
      check_match "HAB-3" "$1 is refused" "^2 troupe run: $word(:| is not done)" \
        "$result $said"
      ;;
    *) failed "HAB-3" "$1 has no fate: $fate" ;;
  esac
}

rows=0
: >known
while IFS='|' read -r _ word of fate here what _; do
  word=${word# \`} word=${word%\` }
  word=${word//$'\001'/|} what=${what//$'\001'/|}
  fate=${fate# } fate=${fate% } what=${what# } what=${what% }
  printf '%s\n' "$word" | sed 's/^-*//; s/ .*//' >>known
  rows=$((rows + 1))
  check_row "$word" "$fate" "$what"
done < <(sed -n 's/\\|/\x01/g; /^| `/p' "$TROUPE_SOURCE/docs/habits.md")
check "HAB-3" "the tables have rows" test "$rows" -gt 250

# missing DESCRIPTION FILE: no word of the file may be missing in the tables.
missing() {
  check_equal "HAB-3" "$1" "" \
    "$(sed 's/^-*//' "$2" | sort -u | grep -vxFf known | xargs)"
}

troupe run --help words | sed 's/ .*//' >ours
check "HAB-3" "our own list has words" test "$(wc -l <ours)" -gt 150
missing "all words that we know are in the tables" ours
if command -v mpirun >/dev/null; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  for topic in general debug output input mapping ranking binding devel \
    compatibility launch dvm; do
    mpirun --help $topic </dev/null
  done 2>&1 | sed -n 's/^ *\(-[^ ]*\).*/\1/p' | tr '|' '\n' >theirs
  unset OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
  check "HAB-3" "mpirun tells its words" test "$(wc -l <theirs)" -gt 100
  missing "all words of the installed mpirun are in the tables" theirs
else
  skip "HAB-3" "all words of mpirun" "there is no mpirun"
fi
if command -v srun >/dev/null; then
  printf '%s\n' ClusterName=x SlurmctldHost=localhost NodeName=localhost \
    'PartitionName=p Nodes=ALL' >slurm.conf
  SLURM_CONF=$PWD/slurm.conf srun --help | cut -c 1-30 \
    | grep -oE '(^|[ ,])--?[A-Za-z][A-Za-z-]*' | tr -d ' ,' >theirs
  check "HAB-3" "srun tells its words" test "$(wc -l <theirs)" -gt 100
  missing "all words of the installed srun are in the tables" theirs
else
  skip "HAB-3" "all words of srun" "there is no srun"
fi

# -- command lines -------------------------------------------------------------

check_equal "HAB-1" "options end with two dashes" "x" "$(job -np 1 -- echo x)"
check_equal "HAB-1" "a program may begin with a dash behind them" "127" \
  "$(job -np 1 -- -no-such-program >/dev/null 2>&1; echo $?)"
check_equal "HAB-1" "the program's own options are left alone" \
  "-np -host --help" "$(job -np 1 echo -np -host --help)"
check_match "HAB-1" "programs behind colons have nodes of their own" \
  '^(one:b two:a|two:a one:b) $' \
  "$(run '-np 1 -host b:1 --remote-shell ./here.sh sh -c "echo one:\$PMIX_HOSTNAME" : -np 1 -host a:1 sh -c "echo two:\$PMIX_HOSTNAME"')"

for name in mpirun mpiexec prterun prun; do
  ln -s "$TROUPE_BIN/troupe" "bin/$name"
done
for name in mpirun mpiexec prterun; do
  check_equal "HAB-2" "a link called $name runs a job" "x x" \
    "$(within $((20 * slow)) "bin/$name" -np 2 echo x | xargs)"
done
check_equal "HAB-2" "a link called prun runs it in the DVM" "a b" \
  "$(in_dvm within $((20 * slow)) bin/prun --map-by node -np 2 printenv PMIX_HOSTNAME \
    | sort | xargs)"

check "HAB-4" "a time-out in the form of srun ends a job" \
  status 124 job -np 1 --timeout 0-00:00:01 sleep 60

# -- the environment -----------------------------------------------------------

dvm_job() {
  in_dvm within $((20 * slow)) troupe run --dvm habits "$@"
}
export HABIT=mine
check_equal "HAB-5" "processes of a DVM do not have this shell's variables" "" \
  "$(dvm_job -n 1 printenv HABIT)"
check_equal "HAB-5" "but with --export=ALL" "mine" \
  "$(dvm_job -n 1 --export=ALL printenv HABIT)"
check_equal "HAB-5" "or when it is named" "mine 1" \
  "$(dvm_job -n 1 --export=HABIT,B=1 printenv HABIT B | xargs)"
check_equal "HAB-5" "what a list does not name is not there" "mine" \
  "$(job -n 1 --export=HABIT printenv HABIT HOME)"
check_equal "HAB-5" "Open MPI's settings neither with NONE" "" \
  "$(OMPI_MCA_btl=self dvm_job -n 1 --export=NONE printenv OMPI_MCA_btl)"
check_equal "HAB-5" "-x BEGIN* hands many on" "mine" \
  "$(dvm_job -n 1 -x 'HAB*' printenv HABIT)"
check_equal "HAB-5" "-mca reaches the processes of a DVM" "self" \
  "$(dvm_job -n 1 -mca btl self printenv OMPI_MCA_btl)"
check_match "HAB-5" "a setting of mpirun itself is told" \
  'plm_rsh_agent is one of mpirun itself' \
  "$(job -np 1 -mca plm_rsh_agent ssh true 2>&1)"

# -- files that go first -------------------------------------------------------

mkdir elsewhere
check_equal "HAB-10" "--preload-files copies to where processes start" \
  "btl = self" \
  "$(job -np 1 --wdir elsewhere -preload-files settings tail -n 1 settings)"
check_equal "HAB-10" "in a DVM too" "b" \
  "$(dvm_job -np 1 --wdir elsewhere --preload-files nodes \
    sed -n 's/b slots.*/b/p' nodes)"
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
  # A node that does not have the program: something else is mounted there.
  mkdir far "$TMPDIR/far"
  cp bin/mine far/mine
  cat >far.sh <<EOF
#!/bin/sh
shift
exec unshare -m sh -c 'mount -t tmpfs none "\$0" && exec "\$@"' "$PWD/far" "\$@"
EOF
  chmod +x far.sh
  TMPDIR=$TMPDIR/far troupe up --name far --remote-shell ./far.sh --host a:1 \
    >far.up 2>&1 </dev/null &
  far_dvm=$!
  far_job() {
    TMPDIR=$TMPDIR/far within $((30 * slow)) troupe run --dvm far -np 1 "$@"
  }
  check "HAB-10" "a DVM whose node does not have the program" \
    eventually 30 grep -qx "DVM ready" far.up
  check "HAB-10" "indeed" status 127 far_job ./far/mine
  check_equal "HAB-10" "-s copies it there" "mine" "$(far_job -s ./far/mine)"
  TMPDIR=$TMPDIR/far within $((20 * slow)) troupe down --dvm far >/dev/null 2>&1
  wait "$far_dvm"
  rmdir "$TMPDIR/far/troupe-$(id -u)" "$TMPDIR/far" # Both have to be empty.
else
  skip "HAB-10" "--preload-binary" "a mount of one's own needs root"
fi
usage_error "a program without its directory" \
  'troupe run: --preload-binary: write' troupe run -s true

# -- mistakes ------------------------------------------------------------------

usage_error "a policy that is none" 'troupe run: --map-by .*nonsense' \
  troupe run --map-by nonsense true
usage_error "a modifier that is none" 'troupe run: --map-by .*foo=3' \
  troupe run --map-by slot:foo=3 true
usage_error "an object that is none" 'troupe run: --bind-to .*nonsense' \
  troupe run --bind-to nonsense true
usage_error "a ranking that is none" 'troupe run: --rank-by .*nonsense' \
  troupe run --rank-by nonsense true
usage_error "a number that is none" 'troupe run: -np: two is no whole number' \
  troupe run -np two true
usage_error "a number that is too small" 'troupe run: -N: 0 is no whole' \
  troupe run -N 0 true
usage_error "a time that is none" 'troupe run: --timeout soon is no time' \
  troupe run --timeout soon true
usage_error "two policies" 'troupe run: -bynode and --map-by core both' \
  troupe run -bynode --map-by core true
usage_error "the same twice" 'troupe run: -n 3: there is -np 2 before' \
  troupe run -np 2 -n 3 true
usage_error "a near word" 'troupe run: --mapby .* mean --map-by\?' \
  troupe run --mapby core true
usage_error "a word without its value" 'troupe run: -host has no value' \
  troupe run -host
usage_error "an option of the job behind a colon" \
  'troupe run: --timeout is for the whole job' \
  troupe run true : --timeout 5 true
usage_error "a host list that is none" 'troupe run: .*n\[1' \
  troupe run --host 'n[1' true
usage_error "a rank without a process" 'troupe run: --stdin 7' \
  troupe run -n 1 --stdin 7 true
usage_error "no program" 'troupe run: no program given' troupe run -np 2
usage_error "an unknown topic" 'troupe run: --help nonsense' \
  troupe run --help nonsense
usage_error "a variable that is not there" 'troupe run: -x: NO_SUCH_THING' \
  troupe run -x NO_SUCH_THING true
usage_error "a tune file with a mistake" 'troupe run: --tune: .*nodes:1' \
  troupe run --tune nodes true
usage_error "a host file of MPICH with a mistake" 'troupe run: .*line 1.*a:x' \
  troupe run --hostfile <(echo a:x) true
usage_error "programs twice" 'troupe run: --app programs names the programs' \
  troupe run --app programs true

# -- help, maps ----------------------------------------------------------------

check_match "HAB-7" "help has groups" 'Places of processes' \
  "$(troupe help run)"
check_match "HAB-7" "troupe help run WORD" 'ppr:N:OBJECT' \
  "$(troupe help run map-by)"
check_match "HAB-7" "help about a word of others" '--npersocket .*ppr:VALUE' \
  "$(troupe run --help npersocket)"
check_equal "HAB-7" "help is no error" "0" \
  "$(troupe run --help >/dev/null; echo $?)"

check "HAB-8" "--dry-run starts nothing" \
  status 0 job -np 2 --dry-run touch started
check_match "HAB-8" "and shows the map" 'rank 1: app 0' "$(cat output)"
check "HAB-8" "indeed" test ! -e started
check "HAB-8" "--dry-run in a DVM" status 0 dvm_job -np 4 --dry-run touch started
check_match "HAB-8" "with its nodes" 'rank 3: app 0, node b' "$(cat output)"
check "HAB-8" "nor does that" test ! -e started
check_match "HAB-8" "the allocation of a DVM" 'a: 2 slots' \
  "$(dvm_job -np 1 --display allocation true 2>&1)"

# shellcheck disable=SC2016
check "HAB-3" "the README begins with what users type" \
  sh -c 'head -40 "$TROUPE_SOURCE/README.md" | grep -q "troupe run -np 4 ./app"'

in_dvm within $((20 * slow)) troupe down --dvm habits >/dev/null 2>&1
wait "$dvm"
rmdir "$TMPDIR/dvm/troupe-$(id -u)" "$TMPDIR/dvm" # Both have to be empty.
clean "HAB-3" "nothing is left"
finish
