# What docs/habits.md takes for granted: a program, and a directory for programs.

. "$TROUPE_SOURCE/tests/docs/pages/common.sh"
# The link is to the program itself.
unset -f troupe
program app
export HOME=$PWD
mkdir bin
