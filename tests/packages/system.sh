# To be sourced after check.sh: a system of its own, with Debian's base and nothing else,
# below the directory $root, and packages for it. See inside.sh for what is done in there.

built=$TROUPE_SOURCE/build/package
version=$(cat "$TROUPE_SOURCE/VERSION")
root=$TROUPE_WORK/root
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=

# no_system: why there can be none here; nothing if there can.
no_system() {
  local tool proxy
  [ "$(id -u)" -eq 0 ] || { echo "it takes root"; return; }
  for tool in debootstrap unshare chroot dpkg-buildpackage; do
    command -v "$tool" >/dev/null || { echo "there is no $tool; scripts/setup"; return; }
  done
  unshare --mount --pid --fork true 2>/dev/null || { echo "there are no namespaces here"; return; }
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' \
    | awk -v suite="$suite" '$2 == suite { print $1; exit }')
  [ -n "$mirror" ] || { echo "apt knows no mirror of Debian $suite"; return; }
  # debootstrap asks by wget, which does not know what apt's settings say.
  proxy=$(apt-config dump --format '%v%n' Acquire::http::Proxy)
  [ -z "$proxy" ] || [ "$proxy" = DIRECT ] || export http_proxy=$proxy
  within 60 wget -q -O /dev/null "${mirror%/}/dists/$suite/Release" \
    || echo "the mirror ${mirror%/} does not answer"
}

# need_system IDENTIFIERS: ends the script, saying why, where there can be none.
need_system() {
  local why
  no_system >"$TROUPE_WORK/why"
  why=$(cat "$TROUPE_WORK/why")
  [ -n "$why" ] || return 0
  skip "$1" "packages in a system of their own" "$why"
  finish
}

# need_packages: those of these sources; the script ends without them.
need_packages() {
  check "PKG-8" "scripts/package builds them, and lintian has no errors and no warnings" \
    within 7200 "$TROUPE_SOURCE/scripts/package" --keep
  [ -e "$(echo "$built"/troupe_"$version"_*.deb)" ] || finish
}

# need_root: makes the system, brings it up to date, gives it the user alice and what is
# to be installed. What was made today serves the next script, too.
need_root() {
  local kept=$TROUPE_BUILD/packages-base.tar
  rm -rf "$root"
  mkdir -p "$root"
  if [ -n "$(find "$kept" -mtime -1 2>/dev/null)" ]; then
    check "PKG-9" "a system with Debian's base is laid out" \
      tar --extract --file "$kept" --directory "$root" --numeric-owner
  else
    check "PKG-9" "a system with Debian's base is made" make_base
    tests
    check "PKG-9" "it is brought up to date" step 900 prepare
    tar --create --file "$kept.new" --directory "$root" --numeric-owner . \
      && mv "$kept.new" "$kept"
  fi
  [ -x "$root/usr/sbin/policy-rc.d" ] || finish
  tests
  check "PKG-9" "an older release is made of the packages" older
  mkdir -p "$root/root/new"
  cp "$built"/*.deb "$root/root/new/"
}

make_base() {
  within 1800 debootstrap --variant=minbase "$suite" "$root" "$mirror" || return
  apt-config dump | grep '^Acquire::' >"$root/etc/apt/apt.conf.d/99host"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
}

# tests: what is run in there.
tests() {
  mkdir -p "$root/root/tests"
  chmod 755 "$root/root" "$root/root/tests"
  cp "$TROUPE_SOURCE"/tests/packages/inside.sh "$TROUPE_SOURCE"/tests/interop/check.sh \
    "$TROUPE_SOURCE"/tests/interop/slurm_cluster.sh "$TROUPE_SOURCE"/examples/{embed_rm,mini_rm}.cpp \
    "$TROUPE_SOURCE"/tests/interop/programs/mpi4py_program.py "$root/root/tests/"
}

# The same packages as an older release: 0.0.9.
older() {
  local file dir=$TROUPE_WORK/older
  mkdir -p "$root/root/old"
  for file in "$built"/*.deb; do
    rm -rf "$dir"
    dpkg-deb -R "$file" "$dir" || return
    sed -i "s/^Version: .*/Version: 0.0.9/; s/(= $version)/(= 0.0.9)/g" "$dir/DEBIAN/control"
    dpkg-deb -Zgzip -z1 --build "$dir" "$root/root/old/" || return
  done
  rm -rf "$dir"
}

# in_root COMMAND...: in there, in namespaces of its own: all ends with it.
in_root() {
  unshare --mount --pid --fork --kill-child --propagation private bash -c '
    root=$1
    shift
    # What is unshared in there wants its root to be a mount.
    mount --bind "$root" "$root" && mount -t proc proc "$root/proc" \
      && mount --rbind /sys "$root/sys" \
      && mount --rbind /dev "$root/dev" || exit 125
    exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
      DEBIAN_FRONTEND=noninteractive "$@"' - "$root" "$@"
}

# step SECONDS NAME [ARGUMENT]...: a step of inside.sh.
step() {
  local seconds=$1
  shift
  within "$seconds" "${BASH:-bash}" -c "$(declare -f in_root); root='$root'; in_root \"\$@\"" - \
    bash /root/tests/inside.sh "$@"
}

# files: all that is there, but for what apt, dpkg and logs keep.
files() {
  (cd "$root" && find . \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./run \
    -o -path ./tmp -o -path ./root -o -path ./var/cache -o -path ./var/log \
    -o -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./home \) -prune -o -print | sort)
}

# nothing_but_before IDENTIFIERS: compares with $TROUPE_WORK/before, which `files` made.
nothing_but_before() {
  files >"$TROUPE_WORK/after"
  check_equal "$1" "nothing is left of it" "" \
    "$(comm -13 "$TROUPE_WORK/before" "$TROUPE_WORK/after")"
  check_equal "$1" "and nothing is missing" "" \
    "$(comm -23 "$TROUPE_WORK/before" "$TROUPE_WORK/after")"
}
