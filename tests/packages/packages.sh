# The Debian packages: built, looked at by lintian, and in a system of their own, which
# has nothing but Debian's base, installed, upgraded, used, removed and purged. Takes
# root, Debian's mirrors, and an hour if ccache has nothing. See system.sh and inside.sh.
. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/packages/system.sh"

need_system "PKG-8 PKG-9 PKG-10"
names="libpmix-troupe2 libtroupe-dev libtroupe0.1 troupe troupe-doc"

# -- built -----------------------------------------------------------------------

need_packages
check_equal "PKG-8" "they are these" "$names" \
  "$(for x in "$built"/*.deb; do dpkg-deb -f "$x" Package; done | LC_ALL=C sort | xargs)"
# contents PACKAGE: its files.
contents() { dpkg-deb -c "$built/${1}_${version}"_*.deb | sed 's/.* \.\//\//; s/ -> .*//'; }
check_equal "PKG-8" "no package has a libpmix where a distribution's is" "" \
  "$(for x in $names; do contents "$x"; done | grep -E '^/(usr/)?lib/([^/]+/)?libpmix')"
check_equal "PKG-8" "nor a file in the loader's configuration" "" \
  "$(for x in $names; do contents "$x"; done | grep -E '^/etc/ld\.so')"
check_match "PKG-8" "the libraries have one of Troupe's own" \
  '^/usr/lib/[^/]+/troupe/pmix/lib/libpmix\.so\.2$' "$(contents libpmix-troupe2)"
check_match "PKG-8" "the programs come with their units" \
  '^(/usr)?/lib/systemd/system/trouped@\.service$' "$(contents troupe)"
check_equal "PKG-8" "programs that are linked to libpmix2 do not come to need ours" "" \
  "$(dpkg-deb -I "$built"/libpmix-troupe2_*.deb shlibs 2>/dev/null)"

# -- a system of its own ---------------------------------------------------------

need_root
compile_mpi "$TROUPE_SOURCE/tests/interop/programs/mpi_ring.c" "$root/root/tests/mpi_ring"
compile_pmix "$TROUPE_SOURCE/examples/pmix_hello.c" "$root/root/tests/pmix_hello"
# What a container begins with, if there is somebody to build one.
base=localhost/troupe-test-base
[ -z "$(command -v podman)" ] \
  || tar --create --directory "$root" --exclude='./root/*' . | podman import - "$base"
files >"$TROUPE_WORK/before"
begin=$SECONDS
check "PKG-9" "an older release is installed" step 900 install_old
echo "installed in $((SECONDS - begin)) s, with what it needs"
check "PKG-9" "a user runs a job" step 120 job
check "PKG-9" "upgraded while a DVM is up, that goes on" step 600 upgrade
check "PKG-9" "settings of the site stay" step 60 settings_stay
check "PKG-9" "pages, manual and examples are there" step 60 pages
check "PKG-11" "what the units start serves, as a service of a user" step 300 services
check "PKG-9" "removed, its settings stay" step 300 remove
check "PKG-9" "purged, with what it needed" step 300 purge
nothing_but_before "PKG-9"

# -- programs of others ----------------------------------------------------------

check "PKG-10" "Open MPI, mpi4py, Slurm and modules are installed" step 1800 install_others
check "PKG-10" "beside them the packages" step 900 install_new
check "PKG-10" "Debian's libpmix is as it was, and what the loader finds" step 60 untouched
check "PKG-10" "Open MPI's programs run" step 120 open_mpi
check "PKG-10" "programs of libpmix run on both libraries" step 120 libpmix
check "PKG-10" "mpi4py runs" step 120 mpi4py
check "PKG-10" "a module chooses Troupe's libpmix, for mpirun's servers, too" step 120 module
check "PKG-10" "Slurm's plugin runs on Troupe's library" step 300 slurm
check "PKG-10" "a daemon in C++ is compiled and serves" step 600 develop

# -- the container ---------------------------------------------------------------

image=localhost/troupe-test
# entry ARGUMENT...: what the image runs; where the kernel lets nobody start a container,
# in a chroot.
entry() {
  if podman run --rm "$base" true >/dev/null 2>&1; then
    within 60 podman run --rm "$image" "$@"
    return
  fi
  local files command
  files=$(podman image mount "$image") || return
  command=$(podman inspect --format '{{join .Config.Entrypoint " "}}' "$image") || return
  # shellcheck disable=SC2086
  within 60 chroot "$files" $command "$@"
  podman image unmount "$image" >/dev/null
}
if command -v podman >/dev/null; then
  check "PKG-12" "the container is built" within 900 podman build --isolation=chroot \
    --network=host --pull=never --build-arg BASE="$base" --build-arg USER_ID=1234 \
    -f "$TROUPE_SOURCE/packaging/Containerfile" -t "$image" "$built"
  check_match "PKG-12" "and is a daemon" '--bootstrap' "$(entry --help)"
  podman rmi --force "$image" "$base" >/dev/null 2>&1
else
  skip "PKG-12" "the container is built" "podman is not installed"
fi
rm -rf "$root"
finish
