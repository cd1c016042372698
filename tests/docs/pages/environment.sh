# What docs/environment.md takes for granted: a program.

. "$TROUPE_SOURCE/tests/docs/pages/common.sh"
program app
