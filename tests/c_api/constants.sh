# The values of all constants and attributes, against Debian's headers and our
# own tables.
. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/c_api/paths.sh"

names constants "$ours" >ours.txt
names constants "$theirs" >theirs.txt
names tables "$TROUPE_SOURCE/messages" >tables.txt

# Three keys of release 4.2.2 were mended later; a server knows both.
check_equal "C1.2" "every constant of Debian's headers has its value" \
  'PMIX_FABRIC_DEVICE_COORDINATES "pmix.fab.coord"
PMIX_JOB_CTRL_CHECKPOINT_TIMEOUT "pmix.jctrl.ckptsig"
PMIX_QUERY_SUPPORTED_QUALIFIERS "pmix.qry.quals"' \
  "$(comm -23 theirs.txt ours.txt)"
check "C1.2" "at least 900 constants were compared" \
  test "$(wc -l <theirs.txt)" -ge 900

# In release 3.2 this name was an attribute, since then it is a status.
check_equal "C1.2" "every status and attribute of messages has its value" \
  'PMIX_DEBUG_WAITING_FOR_NOTIFY "pmix.dbg.waiting"' \
  "$(comm -23 tables.txt ours.txt)"
check "C1.2" "at least 845 statuses and attributes were compared" \
  test "$(wc -l <tables.txt)" -ge 845
check_equal "C1.2 E55 E56 A14" "names of RFC0002 are those of today" \
  'PMIX_ERR_FAILED_COMM -49
PMIX_ERR_LOST_SERVER_CONNECTION -61' \
  "$(grep -E '^PMIX_ERR_(FAILED_COMM|LOST_SERVER_CONNECTION) ' ours.txt)"
check_equal "C1.2" "every attribute of the headers is in messages" "" \
  "$(comm -13 tables.txt ours.txt | grep '"pmix\.')"

finish
