# What docs/checkpoints.md takes for granted: a job that may be restarted, and a
# checkpoint c1 of it.

. "$TROUPE_SOURCE/tests/docs/pages/common.sh"
compiled "$TROUPE_SOURCE/tests/interop/programs/checkpoints.c" checkpoints
mkdir first
dvm job
job 1 -n 4 --map-by node --max-restarts 5 ./checkpoints run first signal
timeout 60 sh -c 'for x in 0 1 2 3; do until [ -f first/nspace.$x ]; do sleep 0.05; done; done'
troupe ctl checkpoint c1 job@1
