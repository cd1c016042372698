#pragma once

#include "messages/sensor.hpp"

namespace troupe {

/// How full the file system is that holds a path: in percent of the space that
/// users may have, or of the number of files, whichever is worse. May block for
/// as long as a server of files does not answer.
sensor_readings read_file_system(const std::string& path);

} // namespace troupe
