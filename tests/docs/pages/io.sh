# What docs/io.md takes for granted: a DVM called demo, whose first job has written 2 MB.

. "$TROUPE_SOURCE/tests/docs/pages/common.sh"
dvm demo
# shellcheck disable=SC2016
job 1 -n 2 sh -c 'yes hello | head -c 2000000; : >"written.$PMIX_RANK"; exec sleep 300'
timeout 60 sh -c 'until [ -f written.0 ] && [ -f written.1 ]; do sleep 0.05; done'
