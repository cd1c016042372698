#define TROUPE_PART 6
#include "tests/messages/inspected_part.hpp"
