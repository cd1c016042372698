# What the library does not support, as its sources say, is what the document
# says.
. "$TROUPE_SOURCE/tests/interop/check.sh"

check "C2.8" "docs/conformance.md is what scripts/conformance makes" \
  python3 "$TROUPE_SOURCE/scripts/conformance" --check
check_match "C2.8" "it gives reasons" '^\| PMIx_[A-Za-z_]+ \| [a-z].+\. \|$' \
  "$(cat "$TROUPE_SOURCE/docs/conformance.md")"

# A reason that is missing, and a document that is not up to date, are noticed.
mkdir -p adapters base docs messages scripts
cp "$TROUPE_SOURCE/base/directives.def" base
cp "$TROUPE_SOURCE/messages/attributes.def" messages
cp -r "$TROUPE_SOURCE/c_api" .
cp -r "$TROUPE_SOURCE/adapters/c_values" adapters
mkdir -p tests/c_api
cp "$TROUPE_SOURCE/tests/c_api/functions.txt" tests/c_api
cp "$TROUPE_SOURCE/scripts/conformance" scripts
cp "$TROUPE_SOURCE/docs/conformance.md" docs
check "C2.8" "a copy passes" python3 scripts/conformance --check
sed -i 's/, done, /, ignored, /' base/directives.def
check "C2.8 F4.42" "an attribute that is treated in another way is noticed" \
  status 1 python3 scripts/conformance --check
cp "$TROUPE_SOURCE/base/directives.def" base
sed -i 's/Not supported: /Nothing: /' c_api/server_launch.cpp
check "C2.8" "a reason that is missing is noticed" \
  status 1 python3 scripts/conformance --check

finish
