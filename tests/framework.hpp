#pragma once

// CAF's test framework and messaging DSL; precompiled, so it must not mention
// TROUPE_SUITE. Test files include "tests/test.hpp".

// The DSL says FAIL without defining it.
#define FAIL CAF_FAIL
#include <caf/test/dsl.hpp>
#undef FAIL
