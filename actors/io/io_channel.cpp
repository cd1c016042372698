#include "actors/io/io_channel.hpp"
