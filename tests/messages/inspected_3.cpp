#define TROUPE_PART 3
#include "tests/messages/inspected_part.hpp"
