# The repository itself: layers, presets, test runner, map of requirements.
. "$TROUPE_SOURCE/tests/interop/check.sh"
cd "$TROUPE_SOURCE" || exit 1

# -- layers --------------------------------------------------------------------

# includes_only FOLDER ALLOWED...: our headers that FOLDER includes are in these.
includes_only() {
  local folder=$1 allowed
  shift
  allowed=$(IFS='|'; echo "$*")
  ! grep -rnE --include='*.[ch]pp' '^#include "' "$folder" \
    | grep -vE "#include \"($allowed)/"
}
check "F1.1" "messages include messages only" includes_only messages messages
check "F1.1" "config includes no layer above it" \
  includes_only config config messages
check "F1.1" "base includes no layer above it" \
  includes_only base base config messages
check "F1.1" "actors include no adapter" \
  includes_only actors actors base config messages
check "F1.1" "adapters include no runtime, tools or C interface" \
  includes_only adapters adapters actors base config messages
check "F1.1" "the runtime includes neither tools nor the C interface" \
  includes_only runtime runtime adapters actors base config messages
check "F1.1" "the C interface includes no tools" \
  includes_only c_api c_api runtime adapters actors base config \
    messages
check_equal "F1.1" "folders include each other one way" "" \
  "$(python3 tests/repository/include_circles.py)"
check "F1.1" "only the adapters of the C API know its types" bash -c '
  ! grep -rnE "#include <pmix" messages config base actors adapters runtime tools \
    | grep -vE "^adapters/c_(host|values)/"'
check "F1.1" "actors know no system header" bash -c '
  ! grep -rnE "#include <(sys/|unistd|fcntl|poll|netinet/|event2/|hwloc|spawn)" \
      actors base messages'

# links_alone LAYER...: these archives need nothing of the layers above them.
links_alone() {
  local archives=() layer
  for layer in "$@"; do archives+=("$TROUPE_LIB/libtroupe_$layer.a"); done
  c++ -shared -o "$TROUPE_WORK/layer.so" -Wl,--no-undefined \
    -Wl,--whole-archive "${archives[@]}" -Wl,--no-whole-archive -lcaf_core
}
if [ -n "${TROUPE_SANITIZER:-}" ]; then
  skip "F1.1" "layers link without those above" "sanitizers leave symbols open"
else
  check "F1.1" "messages link alone" links_alone messages
  check "F1.1" "config links with messages alone" links_alone config messages
  check "F1.1" "actors link without adapters" \
    links_alone actors base config inspect messages
fi

# -- exceptions ----------------------------------------------------------------

# let_out FILE...: public functions of the C API that are no try block.
let_out() {
  python3 - "$@" <<'PY'
import re, sys
begin = re.compile(r"^[a-z][\w \*]*?[ \*](PMIx_\w+)\([^{};]*\) \{", re.M)
for path in sys.argv[1:]:
    for found in begin.finditer(open(path, encoding="utf-8").read()):
        print(path, found[1])
PY
}
# Those in helpers/ that are none allocate by malloc only. This one does nothing.
check_equal "MND-A10" "no function that asks lets an exception out" \
  "c_api/client_init.cpp PMIx_Progress_thread_stop" "$(let_out c_api/*.cpp)"

# -- what is said to users ------------------------------------------------------

check_equal "MAN-10" "each error text says what it is about and what helps" "" \
  "$(python3 tests/repository/error_texts.py)"
cat >"$TROUPE_WORK/texts.cpp" <<'END'
caf::error a() { return make_error(status::bad_param, x + " is " "wrong"); }
caf::error b() { return make_error(status::bad_param, "it is wrong; leave it out"); }
caf::error c() { return make_error(status::bad_param, x + " is wrong; leave it out"); }
END
check_equal "MAN-10" "one that does not is found" \
  "1: says not what helps: {} is wrong 2: names nothing: it is wrong; leave it out" \
  "$(python3 tests/repository/error_texts.py "$TROUPE_WORK/texts.cpp" \
    | sed "s|^$TROUPE_WORK/texts.cpp:||" | paste -sd ' ')"

# -- interfaces ----------------------------------------------------------------

# The CLIENT names the part of its interface that it does not pass on.
check "F2.5" "typed actor interfaces stand on pages by subject, and on no other" bash -c '
  ! grep -rnE --include="*.[ch]pp" "(using|struct) .*typed_actor<|::extend<" \
      messages config base actors adapters runtime c_api tools 2>/dev/null \
    | grep -vE "^messages/interfaces/|:using own_messages = " || exit 1
  for x in messages/interfaces/*.hpp; do
    grep -q "^#include \"$x\"" messages/actors.hpp || { echo "$x"; exit 1; }
  done'
check "F2.5" "each message on them has its comment" awk '
  /caf::(reacts_to|replies_to)</ && before !~ /^ *\/\/ [^-]/ {
    print FILENAME ":" FNR ": " $0; missing = 1
  }
  NF { before = $0 }
  END { exit missing }' messages/interfaces/*.hpp

# -- build ---------------------------------------------------------------------

for preset in release debug asan tsan coverage fuzz; do
  check "F1.2" "preset $preset configures" \
    within 120 cmake --preset "$preset" -B "$TROUPE_WORK/$preset"
done
# fuzz_builds PATTERN: the sources that fuzz targets compile and that match.
fuzz_builds() {
  ninja -C "$TROUPE_WORK/fuzz" -t commands fuzzers \
    | grep -oE -- "-c $TROUPE_SOURCE/[^ ]*" | sed "s|-c $TROUPE_SOURCE/||" \
    | grep -E -- "$1"
}
check_match "PKG-6" "fuzz targets compile the codec" '^adapters/wire/frame.cpp' \
  "$(fuzz_builds .)"
check_equal "PKG-6" "and no more of actors and of the runtime than they name" \
  "" "$(fuzz_builds '^(runtime/|c_api/[^/]*$|messages/inspect_|tests/.*test.cpp)')"
check "PKG-6" "in all, fewer than five files for each target" \
  test "$(fuzz_builds . | wc -l)" -lt "$((5 * $(find tests/fuzz -name 'fuzz_*.cpp' | wc -l)))"
check "F1.3" "every C++ file is compiled with warnings as errors" python3 -c '
import json, sys
entries = json.load(open(sys.argv[1] + "/compile_commands.json"))
sys.exit(not entries or any("-Werror" not in entry["command"]
                            for entry in entries
                            if entry["file"].endswith(".cpp")))' "$TROUPE_BUILD"
check "F1.4" "all files are formatted" within 120 scripts/format
check "F1.5" "clang-tidy is content with what it is shown" \
  within 200 scripts/tidy adapters/wire/uri.cpp adapters/sockets/local_log.cpp
printf 'int UnLikeOurs(int* p) { return p == 0 ? *p : 0; }\n' \
  >"$TROUPE_WORK/bad.cpp"
check "F1.5" "clang-tidy has the project's list of checks" bash -c '
  clang-tidy --quiet --warnings-as-errors="*" --config-file=.clang-tidy \
    "$1" -- -std=c++17 2>&1 | grep -q "readability-identifier-naming"
  ' - "$TROUPE_WORK/bad.cpp"
check "F1.10" "the launcher is in bin" test -x "$TROUPE_BIN/troupe"
check "F1.10" "the libraries are in lib" test -f "$TROUPE_LIB/libtroupe_actors.a"
check_match "F1.6" "nothing to set up twice" '^setup: all [0-9]+ packages' \
  "$(scripts/setup 2>&1)"
for file in README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md LICENSE; do
  check "F1.15" "$file is there" test -s "$file"
done

check "F1.15" "the drawing is of its source: scripts/draw" \
  grep -q "$(sha256sum docs/architecture.dot | cut -d' ' -f1)" docs/architecture.svg
check "F1.15" "the pictures are of the tables of bench/README.md: bench/plot" \
  bench/plot --check
check "F1.15" "the pictures are XML" python3 -c '
import sys, xml.dom.minidom
for x in sys.argv[1:]: xml.dom.minidom.parse(x)' docs/*.svg

# -- what comments cite --------------------------------------------------------

# Each source as one line, so that a citation may go on in the next line.
find messages config base actors adapters runtime c_api tools bench examples scripts \
  tests -type f \( -name '*.?pp' -o -name '*.[ch]' -o -name '*.sh' \
  -o -name '*.md' -o -name '*.py' \) -print0 | sort -z \
  | xargs -0 awk '
      FNR == 1 { printf "%s%s:", (NR == 1 ? "" : "\n"), FILENAME }
      { sub(/^ *(\/\/+|#+|\/?\*)? */, ""); printf " %s", $0 }
      END { print "" }' >"$TROUPE_WORK/sources"

# cites NAME PATTERN WHAT: WHAT is in all that matches PATTERN, as a list.
cites() {
  grep -hoP -- "$2" "$TROUPE_WORK/sources" | grep -oP -- "$3" | sort -u \
    >"$TROUPE_WORK/cited.$1"
}

# all_there NAME FILE FORM: for each line of the list, FILE has a line that
# matches FORM, in which @ stands for it; the list is not empty.
all_there() {
  local list=$TROUPE_WORK/cited.$1 word missing=0
  while IFS= read -r word; do
    grep -qiE -- "${3//@/${word//./\\.}}" "$2" && continue
    echo "$2 has no $word; the word is in"
    grep -wF -- "$word" "$TROUPE_WORK/sources" | cut -d: -f1 | head -n 5
    missing=1
  done <"$list"
  [ -s "$list" ] && [ "$missing" -eq 0 ]
}

# The rest of a sentence: a period within a number does not end it.
sentence='(?:[^.]|\.(?=[0-9]))*'
several='[0-9.]+(?:(?:, and|,| and| to) [0-9.]+)*'
identifier='(?:P-[A-Z]|(?:CACHE|SEQ|LINK|MEM|COLL|GRP|IO|CTL|MON|LOAD)-)[0-9]+'
row='^\| \*\*@\*\* '
cites sections "\bguarantees,?(?: sections?)? $several" '[0-9]+(\.[0-9]+)?'
cites invariants "\b$identifier\b" '.*'
cites limits "\b(?:guarantees|attacks?|limits?)\b$sentence" \
  '(?<![\w:-])[XL][0-9]{1,2}(?![\w:])'
cut -f1 docs/requirements.tsv | sed 's/^LIM/L/' \
  | grep -P "^($identifier|[XL][0-9]+)$" >"$TROUPE_WORK/cited.rows"
cites readings "(?:\breadings?\b|\brequirements\b|Source:)$sentence" \
  '(?<![\w-])A[0-9]{1,2}(?!\w)'
cites traps "\btraps? $several" '[0-9]+'
cites cases "\b[Cc]ases? $several\b(?!:)" '[0-9]+'
# Of rows like `| 143 to 146, 148 |` a line for each number.
sed '1,/^## Cases/d' docs/readings.md | grep -oP '^\| \K[0-9][0-9, to]*(?= \|)' \
  | tr ',' '\n' | awk 'NF { for (i = $1; i <= (NF > 1 ? $3 : $1); ++i) print i }' \
    >"$TROUPE_WORK/readings.cases"
cites subjects 'OpenPMIx wire protocol, "?\K[\w -]+' \
  '(?:^|and )\K(?:(?! and )[\w -])+\w'
check "F1.17" "sections of the guarantees that are cited are there" \
  all_there sections docs/guarantees.md '^##+ @\.? '
check "F1.17" "promises and invariants are" \
  all_there invariants docs/guarantees.md "$row"
check "F1.17" "attacks and limits are" \
  all_there limits docs/guarantees.md "$row"
check "F1.17" "those of the requirements are" \
  all_there rows docs/guarantees.md "$row"
check "F1.17" "readings of the RFCs are" \
  all_there readings docs/readings.md "$row"
check "F1.17" "cases are" all_there cases "$TROUPE_WORK/readings.cases" '^@$'
check "F1.17" "traps are" all_there traps docs/readings.md "$row"
check "F1.17" "subjects of the wire protocol are" \
  all_there subjects docs/wire.md '@'

# -- tests ---------------------------------------------------------------------

runner=$TROUPE_BIN/troupe_tests
unset TROUPE_TEST_RESULTS # What follows must not touch the real results.
output=$("$runner" --suite fixtures.self 2>&1)
check_match "F1.12" "the runner prints a line per test" \
  '^ok   fixtures\.self/F1\.11 time stands still' "$output"
check_match "F1.12" "the runner ends with its total" \
  '^[1-9][0-9]* passed, 0 failed$' "$(tail -n 1 <<<"$output")"
check "F1.13" "a suite that is not there fails" \
  status 1 "$runner" --suite fixtures.vanished
check "F1.13" "a filter that matches nothing fails" \
  status 1 "$runner" no-such-test-anywhere
"$runner" --list | cut -f1 | sort -u >"$TROUPE_WORK/suites"
check "F1.13" "the binary and its list of suites agree" \
  "$runner" --agree "$TROUPE_WORK/suites"
echo fixtures.vanished >>"$TROUPE_WORK/suites"
check "F1.13" "a listed suite without tests fails" \
  status 1 "$runner" --agree "$TROUPE_WORK/suites"
check_match "F1.14" "the map has every identifier" \
  '^  all +[1-9][0-9]{2}' "$(scripts/requirements --summary)"
check "F1.14" "tests cite known identifiers only" scripts/requirements --summary
check_match "F1.14" "rows are shown end to end, by actors or by classes" \
  '^RFCs: *[1-9][0-9]* end to end, [0-9]+ actor, [0-9]+ class, 0 by no test$' \
  "$(scripts/requirements --kinds)"
check "F1.14" "no check has vanished: scripts/requirements --update-checks" \
  scripts/requirements --checks
check "F1.14" "each numbered edge case is shown or struck: docs/edge_cases.tsv" \
  scripts/requirements --edge-cases
check_equal "F1.14" "checks are found in all forms that scripts have" \
  "E1 on the next line
E2 behind what is set for it
E3 behind a pattern
E4 behind another command
E5 without marks
E6 E7 behind other arguments
E8 E9 by a variable
J1 E10 by a loop
J1 E11 by a loop
E12 A7 104 E13 beside a reading and a case
begins with E12 E13
not understood: O1 O2" "$(python3 - tests/repository/forms.txt <<'PY'
import importlib.machinery, importlib.util, sys
sys.dont_write_bytecode = True
sys.path.insert(0, "scripts")
loader = importlib.machinery.SourceFileLoader("requirements", "scripts/requirements")
module = importlib.util.module_from_spec(
    importlib.util.spec_from_loader("requirements", loader))
loader.exec_module(module)
path, rows = sys.argv[1], module.read_requirements()
for _, ids, text in module.calls_in(path, rows):
    print(ids, text)
print("begins with", *module.identifiers("E12 A7 104 E13 beside", rows)[0])
print("not understood:", *module.not_understood(path, rows))
PY
)"

# -- hardening -----------------------------------------------------------------

if [ -n "${TROUPE_SANITIZER:-}" ]; then
  skip "F8.1 F8.2" "hardening of the launcher" "a sanitizer build is not hardened"
else
  headers=$(readelf -Whld "$TROUPE_BIN/troupe")
  symbols=$(nm -D --undefined-only "$TROUPE_BIN/troupe")
  check_match "F8.1" "the launcher is position independent" \
    'Type: +DYN' "$headers"
  check_match "F8.1" "relocations are read-only" 'GNU_RELRO' "$headers"
  check_match "F8.1" "symbols are bound at start" 'BIND_NOW|FLAGS_1.*NOW' \
    "$headers"
  check_match "F8.2" "the stack is not executable" 'GNU_STACK.* RW ' "$headers"
  check_match "F8.2" "stacks are protected" '__stack_chk_fail' "$symbols"
  check_match "F8.2" "library calls are fortified" '__[a-z]+_chk(@|$)' "$symbols"
fi

finish
