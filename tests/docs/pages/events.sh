# What docs/events.md takes for granted: a DVM called job, and a job of four processes.

. "$TROUPE_SOURCE/tests/docs/pages/common.sh"
dvm job
job 1 -n 4 sleep 300
