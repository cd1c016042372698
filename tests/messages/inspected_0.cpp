#define TROUPE_PART 0
#include "tests/messages/inspected_part.hpp"
