# What docs/job_control.md takes for granted: five jobs, and a request called mine.

. "$TROUPE_SOURCE/tests/docs/pages/common.sh"
compiled "$TROUPE_SOURCE/tests/interop/programs/checkpoints.c" checkpoints
dvm job
mkdir first second fifth
# A signal that it did not expect would end it.
job 1 -n 8 --map-by node --max-restarts 5 sh -c 'trap "" USR1
  exec ./checkpoints run first signal'
# A process that says it is done when it is alerted.
job 2 -n 1 ./checkpoints run second signal preemptible alert
job 3 -n 2 sleep 300
job 4 -n 2 sleep 300
# And one that never says so: whoever preempts it waits.
job 5 -n 1 ./checkpoints run fifth preemptible
timeout 60 sh -c 'for x in first/nspace.0 first/nspace.1 first/nspace.2 first/nspace.3 \
  first/nspace.4 first/nspace.5 first/nspace.6 first/nspace.7 second/nspace.0 fifth/nspace.0; do
  until [ -f $x ]; do sleep 0.05; done
done'
command troupe ctl preempt job@5 --grace 120 --id mine >mine 2>&1 &
timeout 60 sh -c 'until troupe ctl status | grep -q mine; do sleep 0.05; done'
