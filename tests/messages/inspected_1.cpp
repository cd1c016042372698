#define TROUPE_PART 1
#include "tests/messages/inspected_part.hpp"
