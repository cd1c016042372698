#define TROUPE_PART 2
#include "tests/messages/inspected_part.hpp"
