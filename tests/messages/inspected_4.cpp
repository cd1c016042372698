#define TROUPE_PART 4
#include "tests/messages/inspected_part.hpp"
