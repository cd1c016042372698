#include "actors/io/stream_log.hpp"
