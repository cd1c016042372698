# To be sourced after jobs.sh: processes whose lines are cut wherever a pipe is
# full, and a reader that begins late.
cat >lines.py <<'END'
import os
line = (f"rank {os.environ['PMIX_RANK']} " + "x" * 70 + " end\n").encode()
for i in range(4000):
    rest = 20 * line
    while rest:
        rest = rest[os.write(1, rest):]
END

# whole COMMAND...: runs two of them.
whole() {
  "$@" /usr/bin/python3 "$PWD/lines.py" 2>whole.err \
    | { sleep 0.3; cat; } >lines
  [ "$(wc -l <lines)" = 160000 ] && ! grep -vE '^rank [01] x{70} end$' lines
}
