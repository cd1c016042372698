#pragma once

// What a unit test includes first: CAF's test framework and its messaging DSL.
//
// The build defines TROUPE_SUITE (the path of the file with dots); a test file
// defines nothing. Three things to know:
//
// - A test name is run through the preprocessor and turned into a string. It
//   holds no comma, no apostrophe and no unbalanced parenthesis, and a word
//   that happens to be a macro (`EOF`, `SIGKILL`) would be replaced.
// - A test that shows a requirement begins with its identifiers:
//   `CAF_TEST(X13 LINK-3 a length of 4 GiB closes the connection)`.
// - All suites share one binary: what a test file defines for itself (fixtures,
//   helpers, actors) lives in an unnamed namespace.
//
// A failed CAF_REQUIRE or CAF_FAIL ends the test (each test is a process of its
// own, see tests/main.cpp); a failed CAF_CHECK lets it go on.

#include "tests/framework.hpp"

#undef CAF_SUITE
#define CAF_SUITE TROUPE_SUITE
