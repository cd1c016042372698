#include "adapters/log/local_time.hpp"

#include <chrono>
#include <cstdio>
#include <ctime>

namespace troupe {

std::string local_time(int64_t at) {
  using namespace std::chrono;
  const auto since =
    at != 0
      ? nanoseconds{at}
      : duration_cast<nanoseconds>(system_clock::now().time_since_epoch());
  const auto whole = floor<seconds>(since);
  const auto ms = duration_cast<milliseconds>(since - whole).count();
  const auto time = static_cast<std::time_t>(whole.count());
  std::tm local{};
  localtime_r(&time, &local);
  char date[32];
  char zone[8];
  std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &local);
  std::strftime(zone, sizeof(zone), "%z", &local); // +0100
  char result[64];
  std::snprintf(result, sizeof(result), "%s.%03d%.3s:%.2s", date,
                static_cast<int>(ms), zone, zone + 3);
  return result;
}

} // namespace troupe
