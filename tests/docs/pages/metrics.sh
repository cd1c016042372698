# What docs/metrics.md takes for granted: it is on n1 of a lab, and ssh leads to the others.

. "$TROUPE_SOURCE/tests/docs/pages/common.sh"
ssh_by "$TROUPE_SOURCE/scripts/netlab" shell
trouped() { stays trouped "$@"; }
trap 'command troupe down >/dev/null 2>&1 || true' EXIT
