# Shared by the setups of pages, which the shell of a page reads before its first block:
# what a page takes for granted (a DVM, jobs, programs), and what stands for what does
# not end by itself or needs more processors than there are here.

# stays COMMAND...: what does not end by itself is ended; passes if that was needed.
stays() {
  local status=0
  timeout --kill-after=5 "${stay:-1}" "$@" || status=$?
  [ "$status" -eq 124 ] || echo "status $status of: $*"
  [ "$status" -eq 124 ]
}

troupe() {
  case "$*" in
    up\ *--daemonize* | *--help*) command troupe "$@" ;;
    up | up\ * | page | page\ * | attach\ * | "events watch"* | "group watch"* | "io follow"*)
      stays troupe "$@"
      ;;
    run\ *) command troupe run --oversubscribe "${@:2}" ;;
    *) command troupe "$@" ;;
  esac
}

mpirun() { command mpirun --allow-run-as-root --oversubscribe "$@"; }

# compiled SOURCE PROGRAM: a client of libpmix.
compiled() {
  # shellcheck disable=SC2046
  cc -std=gnu11 -O1 -I "$TROUPE_SOURCE/tests/interop/programs" -o "$2" "$1" \
    $(pkg-config --cflags --libs pmix)
}

# program NAME: a program that needs nobody.
program() {
  printf '#!/bin/sh\necho "%s"\n' "$1" >"$1"
  chmod +x "$1"
}

# ssh_by COMMAND...: the remote shell of this page is COMMAND HOST WORDS..., where ssh is
# looked for.
ssh_by() {
  mkdir -p stand_ins
  cat >stand_ins/ssh <<END
#!/bin/bash
while [[ \${1:-} = -* ]]; do
  [ "\$1" != -o ] || shift
  shift
done
exec $* "\$@"
END
  chmod +x stand_ins/ssh
  export PATH=$PWD/stand_ins:$PATH
}

# here_is_all: makes here.sh, a remote shell for nodes that are all this machine.
here_is_all() {
  printf '#!/bin/sh\nshift\nexec sh -c "$*"\n' >here.sh
  chmod +x here.sh
}

# dvm NAME: one of two daemons on this machine, n1 and n2, the user's only one. It ends
# with the page.
dvm() {
  printf '#!/bin/sh\nshift\nexec "$@"\n' >words.sh
  chmod +x words.sh
  command troupe up --name "$1" --node n1 --host n1:16,n2:16 \
    --remote-shell "$PWD/words.sh" --daemonize
  trap 'command troupe down' EXIT
}

# job N OPTION...: the N-th job of the DVM; comes back when it runs.
job() {
  local n=$1
  shift
  command troupe run --dvm "$@" >"job.$n" 2>&1 &
  timeout 60 sh -c "until troupe jobs | grep -q '@$n .*running'; do sleep 0.05; done" \
    || { cat "job.$n"; return 1; }
}
