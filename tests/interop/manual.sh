# The manual: a page for each command, whose options are those of --help and no
# others; what help tells; who prints JSON; the catalogue of errors.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

cd "$TROUPE_WORK" || exit 1

# answered COMMAND...: what it prints, within a time.
answered() { within "$((20 * slow))" "$@" </dev/null; }

# -- help ------------------------------------------------------------------------

# commands_in: the commands that a help lists on standard input.
commands_in() {
  sed -n '/^Commands:$/,/^$/ s/^  \([a-z][a-z-]*\) .*/\1/p'
}

answered troupe help >help
mapfile -t commands < <(commands_in <help)
check "MAN-4" "help lists commands" test "${#commands[@]}" -ge 15
# Each command with each of its verbs, a line each.
for command in "${commands[@]}"; do
  mapfile -t verbs < <(answered troupe "$command" --help | commands_in)
  if [ "${#verbs[@]}" -eq 0 ]; then
    echo "$command"
  else
    printf "$command %s\n" "${verbs[@]}"
  fi
done >lines

# helps COMMAND...: --help is no error, and is on standard output.
helps() {
  answered "$@" --help >out 2>err || { cat err; return 1; }
  grep -q '^Usage: ' out && [ ! -s err ]
}
for command in "${commands[@]}"; do
  check "MAN-4" "troupe $command --help" helps troupe "$command"
  check_equal "MAN-4" "troupe help $command is the same" \
    "$(answered troupe "$command" --help)" "$(answered troupe help "$command")"
done
while read -r line; do
  # shellcheck disable=SC2086
  check "MAN-4" "troupe $line: help" helps troupe $line
done < <(grep ' ' lines)
check "MAN-4" "trouped --help" helps trouped
check "MAN-4" "a command that nobody types has help, too" helps troupe window
check_match "MAN-4" "trouped --version" '^trouped [0-9]' "$(answered trouped --version)"

# -- troupe help -------------------------------------------------------------------

answered troupe help topics >topics
mapfile -t topics < <(awk '!NF { exit } NR > 1 { print $1 }' topics)
check "MAN-4" "topics" test "${#topics[@]}" -ge 6
for topic in "${topics[@]}"; do
  check "MAN-4" "troupe help $topic" answered troupe help "$topic"
done
check_equal "MAN-4" "help settings has all settings" \
  "$(answered troupe config show --json | /usr/bin/python3 -c '
import json, sys
for x in json.load(sys.stdin)["settings"]: print(x["name"])')" \
  "$(answered troupe help settings | sed -n 's/^  \([a-z_]*\.[a-z_]*\) (.*/\1/p')"
check_match "MAN-4" "an option of troupe run" 'ppr:N:OBJECT' \
  "$(answered troupe help map-by)"
check_match "MAN-4" "a word of another launcher" '--npersocket .*ppr:VALUE' \
  "$(answered troupe help npersocket)"
check_match "MAN-4" "with its dashes" 'is not done here' \
  "$(answered troupe help --partition)"
check_match "MAN-4" "a word that nobody knows" 'troupe help topics' \
  "$(answered troupe help nonsense 2>&1)"
check "MAN-4" "is an error" status 2 troupe help nonsense
check_match "MAN-4" "a command that is nearly right" 'did you mean jobs\?' \
  "$(answered troupe jbos 2>&1)"

# -- JSON --------------------------------------------------------------------------

# Those that print nothing, or nothing for programs.
silent='down
authority
events send
monitor cancel'
while read -r line; do
  # shellcheck disable=SC2086
  answered troupe $line --help | grep -q -- '^  --json ' || echo "$line"
done <lines >without
check_equal "MAN-5" "all that print data print JSON" "$(sort <<<"$silent")" \
  "$(sort without)"
check_match "MAN-5" "the version for programs" '"schema": 1' \
  "$(answered troupe version --json)"
check_equal "MAN-5" "and for people" \
  "troupe $(answered troupe version --json | /usr/bin/python3 -c '
import json, sys
print(json.load(sys.stdin)["troupe"])')" "$(answered troupe version)"

# -- errors ------------------------------------------------------------------------

# in_sources: each message of the catalogue is in a literal of the sources, of which
# the compiler joins those beside each other.
in_sources() {
  answered troupe help errors --json >errors.json || return 1
  /usr/bin/python3 - errors.json "$TROUPE_SOURCE" <<'PY'
import json, pathlib, re, sys
catalogue = json.load(open(sys.argv[1], encoding="utf-8"))
literal = r'"(?:[^"\\\n]|\\.)*"'
joined = re.compile(literal + r"(?:\s*" + literal + ")*")
texts = set()
for folder in ("actors", "adapters", "base", "config", "runtime", "tools"):
    for path in pathlib.Path(sys.argv[2], folder).rglob("*.[ch]pp"):
        if path.name == "error_catalogue.cpp":
            continue
        for found in joined.findall(path.read_text(encoding="utf-8")):
            texts.add("".join(x[1:-1] for x in re.findall(literal, found)))
whole = "\n".join(texts).replace('\\"', '"')
missing = [x["text"] for x in catalogue["texts"] if x["text"] not in whole]
print("\n".join(missing))
sys.exit(bool(missing) or len(catalogue["texts"]) < 30)
PY
}
check "MAN-6" "each message of the catalogue is one that the sources have" in_sources
check_match "MAN-6" "an exit status" 'not there on a node' \
  "$(answered troupe help errors 127)"
check_match "MAN-6" "a code by its number" 'PMIX_ERR_TIMEOUT' \
  "$(answered troupe help errors -24)"
said=$(answered troupe run --dvm none true 2>&1)
check_match "MAN-6" "what a command has just said" 'the line lists those that are' \
  "$(answered troupe help errors "$said")"
check "MAN-6" "what nobody says is an error" \
  status 2 troupe help errors no such words anywhere

# -- pages -------------------------------------------------------------------------

if ! command -v scdoc >/dev/null || ! command -v man >/dev/null; then
  skip "MAN-1 MAN-2" "manual pages" "there is no scdoc or no man"
  finish
fi
check "MAN-1" "pages are made" within "$((120 * slow))" \
  "$TROUPE_SOURCE/scripts/manual" "$TROUPE_BIN" "$TROUPE_WORK/man"
check_equal "MAN-1" "each command has one" \
  "$(printf 'troupe-%s.1\n' "${commands[@]}" | sort)" \
  "$(cd man/man1 && printf '%s\n' troupe-*.1 | sort)"
for page in man1/troupe.1 man3/libtroupe.3 man5/troupe.toml.5 man7/troupe-errors.7 \
  man8/trouped.8; do
  check "MAN-1" "$page" test -s "man/$page"
done

# shown PAGE: as people read it.
shown() {
  LC_ALL=C MANWIDTH=1000 man --no-hyphenation --no-justification -l "man/$1" \
    2>/dev/null | col -bx
}
# sound PAGE: man has nothing to say against it.
sound() {
  local said
  said=$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -Tutf8 -l "man/$1" \
    2>&1 >/dev/null)
  [ -z "$said" ] || { echo "$1: $said"; return 1; }
}
all_sound() {
  local page bad=0
  for page in $(cd man && echo man?/*); do
    sound "$page" || bad=1
  done
  return "$bad"
}
check "MAN-1" "pages have no mistake that man knows" all_sound

# options_in_help COMMAND...: names of options, by the help.
options_in_help() {
  answered "$@" --help | sed -n 's/^  \(-[^ {]*\).*/\1/p' | tr , '\n'
}
# options_in_page PAGE: names of options, by the page: where a line begins with them.
options_in_page() {
  shown "$1" | sed -n '/^OPTIONS\|^COMMANDS/,/^NOTES\|^EX/ s/^ *\(-.*\)/\1/p' \
    | grep -oE '^(-[^ ,]+, )*-[^ ,]+' | tr -d ' ' | tr , '\n'
}
# same_options PAGE COMMAND...: in one and not in the other there is none.
same_options() {
  local page=$1 verb
  shift
  {
    options_in_help "$@"
    for verb in $(answered "$@" --help | commands_in); do
      options_in_help "$@" "$verb"
    done
  } | sort -u >in_help
  options_in_page "$page" | sort -u >in_page
  grep -qx -- --help in_help && diff in_help in_page
}
for command in "${commands[@]}"; do
  check "MAN-1 MAN-2" "troupe-$command(1) has the options of --help" \
    same_options "man1/troupe-$command.1" troupe "$command"
done
check "MAN-1 MAN-2" "trouped(8) has the options of --help" \
  same_options man8/trouped.8 trouped

# What is written by hand names options that there are, and pages that there are.
{
  while read -r line; do
    # shellcheck disable=SC2086
    options_in_help troupe $line
  done <lines
  options_in_help trouped
} | sort -u >known
check_equal "MAN-2" "options that the prose names are there" "" \
  "$(grep -hvE "pkg-config|valgrind" "$TROUPE_SOURCE"/docs/man/*.scd \
    | grep -ohE -- '--[a-z][a-z-]+' | sort -u \
    | grep -vxFf known | xargs)"
check_equal "MAN-1" "pages that pages name are there" "" \
  "$(grep -ohE '\*[a-z.-]+\*\([1-8]\)' "$TROUPE_SOURCE"/docs/man/*.scd | sort -u \
    | sed 's/\*\(.*\)\*(\([1-8]\))/man\2\/\1.\2/' \
    | while read -r page; do [ -s "man/$page" ] || echo "$page"; done)"
check "MAN-1" "all prose belongs to a page" bash -c '
  for x in "$TROUPE_SOURCE"/docs/man/*.scd; do
    x=$(basename "$x" .scd)
    ls man/man?/"$x".[1-8] man/man?/"$x" 2>/dev/null | grep -q . || { echo "$x"; exit 1; }
  done'
check_match "MAN-1" "the page of errors has the catalogue" 'PMIX_ERR_TIMEOUT' \
  "$(shown man7/troupe-errors.7)"
check_match "MAN-1" "the page of settings has them" 'events.history = false' \
  "$(shown man5/troupe.toml.5)"

clean "MAN-1" "nothing is left"
finish
