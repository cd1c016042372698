# What docs/settings.md takes for granted: a user without settings.

. "$TROUPE_SOURCE/tests/docs/pages/common.sh"
export HOME=$PWD XDG_CONFIG_HOME=$PWD/config
