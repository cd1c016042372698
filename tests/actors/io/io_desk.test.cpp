#include "actors/io/io_desk.hpp"
