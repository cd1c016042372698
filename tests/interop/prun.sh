# Unmodified tools of PRRTE in a DVM of ours. Debian has no PRRTE: build one, and
# have its prun in the path, or name its folder of programs, or the prefix that it is
# installed under, in TROUPE_PRRTE.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

[ -z "${TROUPE_PRRTE:-}" ] || PATH=$PATH:$TROUPE_PRRTE:$TROUPE_PRRTE/bin
for tool in prun pterm; do
  command -v "$tool" >/dev/null && continue
  skip "DVM-10" "tools of PRRTE" "there is no $tool; name its folder by TROUPE_PRRTE"
  finish
done
root=
[ "$(id -u)" -ne 0 ] || root=--allow-run-as-root

cat >here.sh <<'END'
#!/bin/sh
shift
exec "$@"
END
chmod +x here.sh
troupe up --name prrte --remote-shell "$PWD/here.sh" --host a:2,b:2 \
  --report-uri uri >up.out 2>up.err </dev/null &
dvm=$!
check "DVM-10" "a DVM" eventually 30 grep -qx "DVM ready" up.out

# prun_ [OPTION]... PROGRAM: PRRTE's prun in our DVM.
prun_() {
  within $((20 * slow)) prun $root --dvm-uri "file:$PWD/uri" "$@" </dev/null
}
where='echo $PMIX_RANK $PMIX_HOSTNAME'

check_equal "DVM-10" "prun finds the DVM of its user" 2 \
  "$(within $((20 * slow)) prun $root -n 2 echo x </dev/null | wc -l)"
check_equal "DVM-10" "output of all processes" "0 a|1 a|2 b|3 b" \
  "$(prun_ -n 4 sh -c "$where" | sort | xargs -d '\n' | tr ' ' '|' | sed 's/|\([ab]\)/ \1/g')"
check_equal "DVM-10" "--host" "b b" \
  "$(prun_ --host b:2 -n 2 sh -c 'echo $PMIX_HOSTNAME' | xargs)"
check_equal "DVM-10" "--map-by node" "a b" \
  "$(prun_ --map-by node -n 2 sh -c 'echo $PMIX_HOSTNAME' | sort | xargs)"
check_equal "DVM-10" "-x" "bar" "$(prun_ -x FOO=bar -n 1 sh -c 'echo $FOO')"
check_equal "DVM-10" "standard input" "hello|there" \
  "$({ echo hello; sleep 1; echo there; } | within $((20 * slow)) \
    prun $root --dvm-uri "file:$PWD/uri" -n 1 cat | xargs | tr ' ' '|')"
# PRRTE 4.1 ends with 0 also in a DVM of its own: it forgets what it is told.
check_match "DVM-10" "the exit status is told" 'rank [01] .* exited with status 3' \
  "$(prun_ -n 2 sh -c 'exit 3' 2>&1)"
check_match "DVM-10" "and that of a killed process" 'rank 0 .* was killed by signal 9' \
  "$(prun_ -n 1 sh -c 'kill -9 $$' 2>&1)"
check_equal "DVM-10" "and nothing of a good one" "" "$(prun_ -n 2 true 2>&1)"
check_match "DVM-10" "too few slots" 'PMIX_ERR_JOB_INSUFFICIENT_RESOURCES' \
  "$(prun_ -n 9 true 2>&1)"
check_match "DVM-10" "no such program" 'PMIX_ERR_JOB_EXE_NOT_FOUND' \
  "$(prun_ -n 1 /no/such 2>&1)"
# It leaves a boolean of its request as it finds it in memory.
short() {
  local i
  for i in 1 2 3 4 5 6 7 8 9 10; do
    prun_ -n 4 echo done >short.out 2>&1
    [ "$(grep -cx 'done' short.out)" -eq 4 ] || { cat short.out; return 1; }
  done
}
check "DVM-10" "short jobs end, each with all of its output" short
check "DVM-10" "and nothing of it was refused" \
  bash -c "! grep -q 'cannot be read' up.err"
check "DVM-10" "pterm ends the DVM" within $((20 * slow)) \
  pterm --dvm-uri "file:$PWD/uri"
check "DVM-10" "its root ends" eventually 20 sh -c "! kill -0 $dvm"
find "$TMPDIR" -mindepth 1 -maxdepth 1 -name 'prun.session.*' -exec rm -rf {} +
clean "" "nothing is left of it"
finish
