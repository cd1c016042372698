# What packages are made of: versions, what a build needs, units, recipes, scripts.
. "$TROUPE_SOURCE/tests/interop/check.sh"
cd "$TROUPE_SOURCE" || exit 1
version=$(cat VERSION)

# -- one version ---------------------------------------------------------------

check_match "PKG-7" "VERSION is a version" '^[0-9]+\.[0-9]+\.[0-9]+$' "$version"
check_equal "PKG-7" "that of the packages" "troupe ($version)" \
  "$(sed -n '1s/).*/)/p' debian/changelog)"
check_equal "PKG-7" "of the programs" "troupe $version" "$(troupe --version)"
check_match "PKG-7" "of the Spack recipe" "version\\(\"$version\"\\)" \
  "$(cat packaging/spack/packages/troupe/package.py)"
check_match "PKG-7" "and of the release notes" "^## $version" "$(cat docs/releases.md)"
check_equal "PKG-7" "the library's package is named by its SONAME" \
  "libtroupe$(cut -d. -f1,2 VERSION)" \
  "$(sed -n 's/^Package: \(libtroupe[0-9].*\)/\1/p' debian/control)"

# -- what a build needs --------------------------------------------------------

needed=$(sed -n '/^Build-Depends:/,/^$/p' debian/control \
  | sed 's/^Build-Depends://; s/([^)]*)//; s/[ ,]//g' | sed '/^$/d' | sort)
libraries=$(sed -n '/# libraries$/,/# tests:/p' scripts/setup | sed '/#/d' | xargs -n 1 | sort)
check_equal "PKG-8" "packages need the libraries that scripts/setup installs" "" \
  "$(comm -23 <(echo "$libraries") <(echo "$needed"))"

# What debhelper puts into packages, of what the build installs.
stage=$TROUPE_WORK/stage
staged() {
  local lib=$stage/debian/tmp/usr/lib triplet x
  rm -rf "$stage"
  mkdir -p "$stage"
  cp -r debian packaging "$stage/" || return
  cmake --install "$TROUPE_BUILD" --prefix "$stage/debian/tmp/usr" || return
  # As debian/rules has it: libraries of an architecture, units beside systemd's.
  triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH) || return
  mkdir -p "$lib/$triplet" "$stage/debian/tmp/lib"
  mv "$lib/systemd" "$stage/debian/tmp/lib/" || return
  for x in "$lib"/*; do
    [ "$x" = "$lib/$triplet" ] || mv "$x" "$lib/$triplet/" || return
  done
}
distributed() {
  (cd "$stage" && dh_install && dh_installdocs && dh_installexamples && dh_link \
    && dh_missing --fail-missing)
}
# linked FOLDER: all links of the pages there.
linked() {
  (cd "$1" && find . -name '*.md' -print0 | sort -z \
    | xargs -0 /usr/bin/python3 "$TROUPE_SOURCE/tests/docs/links.py")
}
# contents PACKAGE REGEX: its files of such a name.
contents() { (cd "$stage/debian/$1" && find . ! -type d | cut -c 2- | grep -E -- "$2" | sort); }
if command -v dh_install >/dev/null; then
  check "PKG-8" "what a build installs" staged
  check "PKG-8" "each file of it is in a package, and what packages name is there" distributed
  check_equal "PKG-8" "none is in two" "" \
    "$(cd "$stage/debian" && find libpmix-troupe2 libtroupe-dev libtroupe0.1 troupe troupe-doc \
      ! -type d | cut -d/ -f2- | sort | uniq -d)"
  check_equal "PKG-8" "programs are in troupe" "/usr/bin/troupe /usr/bin/troupe-page /usr/bin/trouped" \
    "$(contents troupe '^/usr/bin/' | xargs)"
  check_match "PKG-8" "with what writes metrics" '/troupe/libtroupe_metrics\.so$' \
    "$(contents troupe '[.]so')"
  check_equal "PKG-8" "each with a manual page" "" \
    "$(for x in $(contents troupe '^/usr/bin/'); do
      [ -n "$(contents troupe "/man/man[18]/${x##*/}[.][18]\$")" ] || echo "$x"
    done)"
  check_equal "PKG-8" "and what Prometheus and Grafana take" 4 \
    "$(contents troupe '^/usr/share/troupe/(prometheus|grafana)/' | wc -l)"
  check "PKG-5 PKG-8" "pages of troupe-doc lead to what is in it" \
    linked "$stage/debian/troupe-doc/usr/share/doc/troupe"
  check_match "PKG-8" "completion is where zsh looks" . \
    "$(contents troupe '^/usr/share/zsh/vendor-completions/_troupe$')"
  check_match "PKG-8" "and where bash does" . \
    "$(contents troupe '^/usr/share/bash-completion/completions/troupe$')"
else
  skip "PKG-8" "what debhelper puts into packages" "there is no debhelper; scripts/setup"
fi

# Libraries that are loaded by their names are in no program's list; but libstdc++ is, of
# which we only ask where it is.
by_name() {
  grep -rhoE --include='*.cpp' --include='*.hpp' '"lib[A-Za-z0-9_+-]+\.so\.[0-9.]+"' \
    adapters c_api runtime tools | tr -d '"' | grep -vE '^lib(pmix|mpi|mpich|stdc\+\+)\.' | sort -u
}
# unnamed: those whose Debian package none of ours depends on or recommends.
unnamed() {
  local library package
  for library in $(by_name); do
    package=$(dpkg -S "*/$library" | sed -n '1s/:.*//p')
    sed -n '/^Package: /,$p' debian/control | grep -qE "[ ,]$package(,|\$)" \
      || echo "$library: $package"
  done
}
check_match "PKG-8" "there are libraries that are loaded when they are needed" \
  '^libncursesw\.so' "$(by_name)"
check_equal "PKG-8" "packages name those that have them" "" "$(unnamed)"

# The rest takes minutes and Debian's mirrors.
skip "PKG-8 PKG-9 PKG-10 PKG-12 PKG-13" "packages in a system of their own" \
  ".ci/nightly packages does that"

# -- units ---------------------------------------------------------------------

# unit NAME: the unit as it is installed, for the programs of the build.
unit() {
  sed "s|@TROUPE_BINDIR@|$TROUPE_BIN|" "$TROUPE_BUILD/install/$1.service.in" \
    >"$TROUPE_WORK/$1@daemon.service"
  echo "$TROUPE_WORK/$1@daemon.service"
}
# exposure UNIT: what systemd makes of what it is allowed, from 0 to 10.
exposure() {
  systemd-analyze security --offline=true --no-pager "$1" \
    | sed -n 's/.*exposure level for .*: \([0-9.]*\).*/\1/p'
}
for name in trouped troupe-root; do
  file=$(unit "$name")
  check_equal "PKG-11" "$name@ has nothing that was to be filled in" "" \
    "$(grep -E '@[A-Z_]+@' "$file")"
  check_equal "PKG-11" "systemd finds no mistake in $name@" "" \
    "$(systemd-analyze verify --man=no "$file" 2>&1 | grep -F "$name@")"
  for word in Type=notify WatchdogSec= NoNewPrivileges=yes ProtectSystem= MemoryMax= \
    StateDirectory= RuntimeDirectory=; do
    check "PKG-11" "$name@ has $word" grep -q "^$word" "$file"
  done
  said=$(sed -n "s/^| \`$name@\` | \([0-9.]*\) |.*/\1/p" docs/packages.md)
  check_match "PKG-11" "docs/packages.md tells the exposure of $name@" '^[0-9.]+$' "$said"
  check_equal "PKG-11" "it is what systemd-analyze security says of it" "$said" \
    "$(exposure "$file")"
done

# -- recipes -------------------------------------------------------------------

# What pyflakes says of a recipe, but for the names that Spack gives it all at once.
flaws() {
  pyflakes3 "$1" | grep -vE 'unable to detect undefined names|may be undefined, or defined from'
}
# recipe FILE: what it says to Spack, a line each; any mistake of Python ends it.
recipe() {
  python3 - "$1" <<'PY'
import sys, types
spack, package = types.ModuleType("spack"), types.ModuleType("spack.package")
def word(name):
    def say(*args, **kwargs):
        print(name, *args, *(f"{k}={v}" for k, v in kwargs.items()))
    return say
for name in ("license", "version", "depends_on", "conflicts", "generator"):
    setattr(package, name, word(name))
class CMakePackage:
    def define(self, name, value):
        return f"{name}={value}"
class Prefix(str):
    share = "PREFIX/share"
class Spec(dict):
    def __missing__(self, name):
        return type("Dependency", (), {"prefix": Prefix(name)})
package.CMakePackage, package.join_path = CMakePackage, lambda *x: "/".join(x)
sys.modules["spack"], sys.modules["spack.package"] = spack, package
space = {}
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), space)
found = [x for x in space.values() if isinstance(x, type) and x is not CMakePackage]
assert len(found) == 1, found
one = found[0]()
one.spec, one.prefix = Spec(), Prefix("PREFIX")
print("cmake_args", *one.cmake_args())
PY
}
for name in troupe caf civetweb; do
  file=packaging/spack/packages/$name/package.py
  check_equal "PKG-12" "pyflakes finds no flaw in the recipe of $name" "" "$(flaws "$file")"
  check_match "PKG-12" "the recipe of $name says what it needs" '^cmake_args ' \
    "$(recipe "$file" 2>&1)"
done
check_match "PKG-12" "Troupe needs the CAF that the other recipe makes" \
  '^depends_on caf@0\.17\.6$' "$(recipe packaging/spack/packages/troupe/package.py)"
check_match "PKG-12" "which it does" '^version 0\.17\.6 ' \
  "$(recipe packaging/spack/packages/caf/package.py)"
check_match "PKG-12" "and the civetweb" '^version 1\.15 ' \
  "$(recipe packaging/spack/packages/civetweb/package.py)"

# The instructions of a container file, and its commands as scripts.
container() {
  python3 - "$1" "$2" <<'PY'
import re, sys
text = re.sub(r"\\\n", "", re.sub(r"^#.*\n", "", open(sys.argv[1]).read(), flags=re.M))
for line in filter(None, map(str.strip, text.split("\n"))):
    word, _, rest = line.partition(" ")
    if sys.argv[2] == "words":
        print(word)
    elif word == "RUN":
        print(rest)
PY
}
check_equal "PKG-12" "the container file has instructions that there are" "" \
  "$(container packaging/Containerfile words \
    | grep -vxE 'ARG|FROM|COPY|RUN|USER|WORKDIR|STOPSIGNAL|ENTRYPOINT|ENV|LABEL')"
check_equal "PKG-12" "it begins with where it comes from" "FROM" \
  "$(container packaging/Containerfile words | sed '/^ARG$/d' | head -n 1)"
container packaging/Containerfile run >"$TROUPE_WORK/container.sh"
check "PKG-12" "shellcheck is content with its commands" \
  shellcheck --shell=sh "$TROUPE_WORK/container.sh"

check "PKG-8" "and with the scripts of packages" shellcheck --shell=sh debian/troupe.install \
  debian/troupe.prerm debian/troupe.postrm
check "PKG-8" "and with those that build and compare them" \
  shellcheck scripts/package scripts/abi scripts/jobs scripts/pictures
check "PKG-11" "settings that come with the package are right" \
  within 20 troupe config check packaging/troupe.toml
check "PKG-11" "so are those that stand there as comments" bash -c '
  sed "s/^#\([a-z\[]\)/\1/" packaging/troupe.toml >"$TROUPE_WORK/all.toml" \
    && grep -q "^\[events\]" "$TROUPE_WORK/all.toml" \
    && timeout 20 troupe config check "$TROUPE_WORK/all.toml"'
finish
