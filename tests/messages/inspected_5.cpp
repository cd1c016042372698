#define TROUPE_PART 5
#include "tests/messages/inspected_part.hpp"
