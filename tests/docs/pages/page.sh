# What docs/page.md takes for granted: a DVM, and that ssh leads to it.

. "$TROUPE_SOURCE/tests/docs/pages/common.sh"
stay=3
dvm shown
ssh() { "${@:4}"; }
