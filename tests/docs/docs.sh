# The documentation: no link leads nowhere, the site is built without a warning, and each
# block of commands does what the page says, or the page says why nobody runs it.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

export PATH=$TROUPE_BIN:$PATH
pages=$TROUPE_SOURCE/docs/tutorials
cd "$TROUPE_WORK" || exit 1

# -- links -----------------------------------------------------------------------

# linked FOLDER: all links of the pages there.
linked() {
  (cd "$1" && find . -name '*.md' ! -path './build*' ! -path './.*/*' -print0 | sort -z \
    | xargs -0 /usr/bin/python3 "$TROUPE_SOURCE/tests/docs/links.py")
}
check "MAN-7" "links of the repository's pages" linked "$TROUPE_SOURCE"
mkdir broken
printf '# A page\n[there](#a-page) [a](gone.md) [b](page.md#gone)\n' >broken/page.md
check_equal "MAN-7" "a file and a heading that are not there are found" "2" \
  "$(linked broken | grep -c 'there is no\|no such heading')"
check_equal "MAN-7" "each page of docs is in the list of pages" "" \
  "$(cd "$TROUPE_SOURCE/docs" && for x in *.md tutorials/*.md; do
    [ "$x" = index.md ] || grep -qF "]($x)" index.md || echo "$x"
  done
  for x in decisions/0*.md; do
    grep -qF "](${x#*/})" decisions/README.md || echo "$x"
  done)"
check_equal "MAN-7" "and in the navigation of the site" "" \
  "$(cd "$TROUPE_SOURCE" && for x in *.md docs/*.md docs/*/*.md; do
    grep -qE "^ +- ([^:]*: )?$x\$" mkdocs.yml || echo "$x"
  done)"

# -- the site --------------------------------------------------------------------

if command -v mkdocs >/dev/null && command -v scdoc >/dev/null \
  && command -v man >/dev/null && mkdocs build --help 2>&1 | grep -q strict; then
  check "MAN-7" "the site is built without a warning" within $((180 * slow)) \
    "$TROUPE_SOURCE/scripts/site" "$TROUPE_WORK/site"
  check "MAN-7" "it has its pages" test -s site/html/index.html \
    -a -s site/html/docs/tutorials/first_job.html -a -s site/html/docs/man/troupe-run.1.html
  # What a page loads, or a style sheet: links that somebody follows are no request.
  check_equal "MAN-7" "it asks nobody else for anything" "" \
    "$(grep -rhoE '<(script|img|link|iframe)[^>]* (src|href)="?(https?:)?//[^"> ]*' site/html \
      --include='*.html' | grep -v 'rel="\?canonical' | sort -u | head -n 5)"
else
  skip "MAN-7" "the site" "there is no mkdocs, scdoc or man"
fi

# -- tutorials -------------------------------------------------------------------

# follows PAGE: does what a page says, in a folder of its own.
follows() {
  mkdir -p "$1.d"
  within $((180 * slow)) "$TROUPE_SOURCE/tests/install/tutorial" "$pages/$1.md" "$1.d"
}

if command -v mpicc >/dev/null; then
  check "MAN-8" "docs/tutorials/first_job.md" follows first_job
else
  skip "MAN-8" "docs/tutorials/first_job.md" "there is no mpicc"
fi
check "MAN-8" "docs/tutorials/monitor.md" follows monitor
check "MAN-8" "docs/tutorials/events.md" follows events
if command -v mpicc >/dev/null && command -v gdb >/dev/null; then
  check "MAN-8" "docs/tutorials/hang.md" follows hang
else
  skip "MAN-8" "docs/tutorials/hang.md" "there is no mpicc or no gdb"
fi

reason=$("$TROUPE_SOURCE/scripts/netlab" check 2>&1) && reason=
if [ -z "$reason" ]; then
  export CLONE=$TROUPE_SOURCE
  check "MAN-8" "docs/tutorials/three_nodes.md" follows three_nodes
  TROUPE_LAB=tutorial "$TROUPE_SOURCE/scripts/netlab" down >/dev/null 2>&1
else
  skip "MAN-8" "docs/tutorials/three_nodes.md" "$reason"
fi

. "$TROUPE_SOURCE/tests/interop/slurm_cluster.sh"
missing=
for program in munged slurmctld slurmd srun salloc unshare; do
  PATH=$PATH:/usr/sbin type "$program" >/dev/null 2>&1 || missing+=" $program"
done
if [ -n "$missing" ]; then
  skip "MAN-8" "docs/tutorials/slurm.md" "not installed:$missing"
elif [ "$(id -u)" -ne 0 ] || ! unshare --mount true 2>/dev/null; then
  skip "MAN-8" "docs/tutorials/slurm.md" "its daemons need root and mount namespaces"
else
  trap 'slurm_stop
    [ "$checks_finished" = yes ] || echo "the script stopped before finish"' EXIT
  check "" "Slurm starts" slurm_start "$TROUPE_WORK/cluster" ""
  check "MAN-8" "docs/tutorials/slurm.md" follows slurm
  slurm_stop
fi
# That on libraries is run with what was installed.
check_equal "MAN-8" "there is no other tutorial" \
  "events first_job hang library monitor slurm three_nodes" \
  "$(cd "$pages" && printf '%s\n' *.md | sed 's/\.md$//' | xargs)"

# -- other pages -----------------------------------------------------------------

# page IDENTIFIERS PAGE NOT_RUN NEED...: does what it says, with tests/docs/pages/NAME.sh
# before; NOT_RUN blocks are not run, each for a reason that is shown. A NEED is a program,
# `lab`, or `plain`: not with a sanitizer, which programs of others would have to have.
pages=
page() {
  local ids=$1 page=$2 name count=$3 need missing='' said
  name=$(basename "$page" .md)
  pages+=" $page"
  shift 3
  said=$("$TROUPE_SOURCE/tests/install/tutorial" --not-run "$TROUPE_SOURCE/$page" 2>&1)
  check_equal "$ids" "$page: blocks that are not run" "$count" \
    "$(printf '%s' "$said" | grep -c '')"
  [ -z "$said" ] || printf '%s\n' "$said" | sed 's/^/     not run: /'
  [ "$(grep -c '^```sh$' "$TROUPE_SOURCE/$page")" -ne "$count" ] || return 0
  for need in "$@"; do
    case $need in
      lab) [ -z "$lab" ] || missing+=" $lab;" ;;
      plain) [ -z "${TROUPE_SANITIZER:-}" ] || missing+=" not with a sanitizer;" ;;
      *) command -v "$need" >/dev/null || missing+=" there is no $need;" ;;
    esac
  done
  if [ -n "$missing" ]; then
    skip "$ids" "$page: its commands" "${missing# }"
    return
  fi
  rm -rf "$name.page"
  mkdir "$name.page"
  check "$ids" "$page: its commands" within $((120 * slow)) "${on[@]}" \
    "$TROUPE_SOURCE/tests/install/tutorial" "$TROUPE_SOURCE/$page" "$name.page" \
    "$TROUPE_SOURCE/tests/docs/pages/$name.sh"
}

lab=$reason
on=()
page "MAN-9" "README.md" 1 mpicc mpirun pkg-config
page "MAN-9" "docs/logs.md" 1 pkg-config
page "MAN-9" "docs/page.md" 0 troupe-page
page "MAN-9" "docs/packages.md" 6
page "MAN-9 DIR-7" "docs/operating.md" 0 lab
page "MAN-9" "docs/settings.md" 0
page "MAN-9" "docs/environment.md" 0
page "MAN-9" "docs/events.md" 0
page "MAN-9" "docs/monitoring.md" 0 cc
page "MAN-9" "docs/job_control.md" 1 pkg-config
page "MAN-9" "docs/io.md" 1
page "MAN-9" "docs/groups.md" 0 pkg-config
page "MAN-9" "docs/process_sets.md" 0
page "MAN-9" "docs/checkpoints.md" 0 pkg-config
page "MAN-9" "docs/library.md" 3 mpicc mpirun pkg-config plain
page "MAN-9" "docs/habits.md" 0 mpirun
if [ -z "$lab" ]; then
  export TROUPE_LAB=pages
  check "MAN-9" "a lab" "$TROUPE_SOURCE/scripts/netlab" 3
  on=("$TROUPE_SOURCE/scripts/netlab" exec n1)
else
  skip "MAN-9" "a lab" "$lab"
fi
page "MAN-9" "docs/metrics.md" 0 lab curl
[ -n "$lab" ] || "$TROUPE_SOURCE/scripts/netlab" down >/dev/null 2>&1
# Those two are run with what was installed.
check_equal "MAN-9" "no other page has commands" "" \
  "$(cd "$TROUPE_SOURCE" \
    && grep -lE '^ *```sh|^ {4,}(\$ )?(troupe|trouped|mpirun|srun|scripts/[a-z]+) ' \
      README.md docs/*.md | grep -vxF -e docs/extending.md -e docs/remoting.md \
    | grep -vxF "$(xargs -n 1 <<<"$pages")")"
# A runner that passes over blocks would find all of them right.
mkdir wrong
printf '# A page\n\n```sh\ntrue\nfalse\n```\n' >wrong/fails.md
printf '# A page\n\n    troupe jobs\n' >wrong/indented.md
printf '# A page\n\n<!-- not run -->\n\n```sh\ntrue\n```\n' >wrong/unsaid.md
printf '# A page\n\n```sh\necho a\n```\n```text\nb\n```\n' >wrong/says.md
for x in fails indented unsaid says; do
  check "MAN-9" "a page that is wrong is found: $x" status 1 \
    "$TROUPE_SOURCE/tests/install/tutorial" "$TROUPE_WORK/wrong/$x.md" wrong /dev/null
done

# -- command lines that are not run ----------------------------------------------

# looked_at FILE...: their scripts, options, targets and commands are there.
looked_at() {
  (cd "$TROUPE_SOURCE" && within $((60 * slow)) /usr/bin/python3 tests/docs/commands.py \
    "$PWD" "$TROUPE_BIN" "$@")
}
# told NOT_RUN NAME FILE...: likewise; as many are not run, for reasons that are shown.
told() {
  local count=$1 name=$2
  shift 2
  check "MAN-9" "$name: what its command lines name is there" looked_at "$@"
  check_equal "MAN-9" "$name: command lines that are not run" "$count" \
    "$(grep -c '^not run: ' "$TROUPE_WORK/output")"
  sed -n 's/^not run: /     &/p' "$TROUPE_WORK/output"
}
cd "$TROUPE_SOURCE" || exit 1
told 18 "CONTRIBUTING.md" CONTRIBUTING.md
# These are named by patterns, since what a script names is built for it (scripts/needs).
told 49 "the page of benches" bench/*.md
told 16 "maps, security, packaging and examples" ARCHITECTURE.md SECURITY.md \
  actors/*.md packaging/*.* packaging/Containerfile packaging/prometheus/*.yml \
  packaging/systemd/*.in examples/*.c*
check "MAN-9" "what pages name in passing is there" looked_at README.md docs/*.md \
  docs/tutorials/*.md
cd "$TROUPE_WORK" || exit 1
mkdir -p named/scripts
printf '%s\n' '#!/usr/bin/python3' 'import argparse' 'x = argparse.ArgumentParser()' \
  'x.add_argument("--there")' 'x.parse_args()' >named/scripts/known
chmod +x named/scripts/known
printf '    %s\n' "scripts/known --there 1" "scripts/known --gone" "scripts/gone" \
  >named/page.md
# shellcheck disable=SC2016
printf '%s\n' '' '`troupe jobs --json`, `troupe jobs --gone`, `troupe gone`' \
  '`build/bin/gone`' >>named/page.md
check_match "MAN-9" "a script, an option, a command and a program that are not there are found" \
  '^7 commands, .* 5 wrong$' "$(/usr/bin/python3 "$TROUPE_SOURCE/tests/docs/commands.py" \
    named "$TROUPE_BIN" page.md)"

finish
