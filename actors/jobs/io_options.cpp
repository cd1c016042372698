#include "actors/jobs/io_options.hpp"
