#include "actors/io/tool_output.hpp"
