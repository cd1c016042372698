# What docs/process_sets.md takes for granted: two programs.

. "$TROUPE_SOURCE/tests/docs/pages/common.sh"
program ocean
program ice
