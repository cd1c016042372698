# What docs/monitoring.md takes for granted: a DVM called job, a job of four processes;
# where Troupe is installed, and the site's directory.

. "$TROUPE_SOURCE/tests/docs/pages/common.sh"
umask 022
PREFIX=$PWD/prefix SITE=$PWD/site
mkdir -p prefix/include
ln -s "$TROUPE_SOURCE/adapters/monitor_plugins" prefix/include/troupe
cp "$TROUPE_SOURCE/examples/queue_monitor.c" .
program app
dvm job
job 1 -n 4 sleep 300
