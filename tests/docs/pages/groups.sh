# What docs/groups.md takes for granted: a group app-halo.

. "$TROUPE_SOURCE/tests/docs/pages/common.sh"
sed 's/app\.shown/app-halo/' "$TROUPE_SOURCE/tests/interop/programs/group_stays.c" >stays.c
compiled stays.c in_groups
dvm grouped
job 1 -n 4 ./in_groups stays
timeout 60 sh -c 'until troupe group list | grep -q "app-halo.*complete"; do sleep 0.05; done'
