# To be sourced after jobs.sh: what the scripts about streams share.

# The most that a process of ours may need while a reader sleeps.
most_kib=65536

digest() {
  sha256sum | cut -d ' ' -f 1
}

# make_bytes NAME MIB: a file of random bytes.
make_bytes() {
  head -c "$(($2 << 20))" /dev/urandom >"$1"
}

# peak FILE COMMAND...: runs it; the largest resident memory of any of its
# processes, in KiB, is in FILE.
peak() {
  local to=$1
  shift
  within "$((60 * slow))" /usr/bin/time -o "$to" -f %M "$@"
}

# As a program of a job, writes its process number to the file `writer` first.
as_writer='rm -f writer.new; echo $$ >writer.new; mv writer.new writer; exec "$@"'

# stuck: waits until the process whose number is in the file `writer` writes no
# more, since nobody takes what it writes.
stuck() {
  eventually 20 test -s writer && eventually 20 writes_no_more "$(cat writer)"
}

# writes_no_more PID: it has written something, and nothing for a moment.
writes_no_more() {
  local before
  before=$(written "$1") && [ "$before" -gt 0 ] || return 1
  sleep 0.1
  [ "$(written "$1")" = "$before" ]
}

written() {
  sed -n 's/^wchar: //p' "/proc/$1/io"
}

# The same for each process of a job: the numbers are in the folder `writers`.
as_writers='echo $$ >"writers/new.$PMIX_RANK"
mv "writers/new.$PMIX_RANK" "writers/$PMIX_RANK"
exec "$@"'

# begin_writers: before such a job.
begin_writers() {
  rm -rf writers
  mkdir writers
}

# all_stuck COUNT: waits until so many have begun and those that have not ended
# write no more.
all_stuck() {
  eventually 60 none_writes "$1"
}

none_writes() {
  local before
  [ "$(find writers -name '[0-9]*' | wc -l)" = "$1" ] || return 1
  before=$(all_written)
  sleep 0.2
  [ "$(all_written)" = "$before" ]
}

all_written() {
  sed 's,.*,/proc/&/io,' writers/[0-9]* | xargs grep -hs '^wchar' | sort
}

# has_taken PID: no signal waits for that process.
has_taken() {
  ! grep -Eq '^S(hd|ig)Pnd:.*[1-9a-f]' "/proc/$1/status"
}

# interrupts PID: three interrupts, each once the one before has been taken; the
# process ends without waiting for its reader, and says so with its status.
interrupts() {
  local i
  for i in 1 2 3; do
    kill -INT "$1" 2>/dev/null
    eventually 3 has_taken "$1"
  done
  eventually 3 ended "$1" || return 1
  status 130 wait "$1"
}
