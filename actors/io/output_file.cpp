#include "actors/io/output_file.hpp"

#include "actors/io/output_formatter.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

namespace troupe {

namespace {

/// A namespace as a part of a path: one part, and no way out of its folder.
std::string part_of(std::string_view nspace) {
  std::string result{nspace};
  for (auto& c : result)
    if (c == '/' || static_cast<uint8_t>(c) < 0x20 || c == 0x7f)
      c = '_';
  if (result.empty() || result == "." || result == "..")
    result.insert(0, 1, '_');
  return result;
}

std::string padded(uint32_t rank, uint32_t size) {
  const auto digits = std::to_string(size).size();
  auto result = std::to_string(rank);
  if (result.size() < digits)
    result.insert(0, digits - result.size(), '0');
  return result;
}

std::string_view ending_of(std::string_view stream) {
  return stream == "stdout" ? ".out" : stream == "stderr" ? ".err" : ".diag";
}

/// Adds `.out` and so on, and splits at the slashes.
/// @param made Where the part begins that was not given by the user as it is.
output_file split(const std::string& path, size_t made) {
  output_file result;
  const auto slash = path.rfind('/', made);
  auto at = slash == std::string::npos ? 0 : slash + 1;
  result.folder = slash == std::string::npos ? "."
                  : slash == 0               ? "/"
                                             : path.substr(0, slash);
  for (auto next = path.find('/', at); next != std::string::npos;
       next = path.find('/', at)) {
    if (next > at)
      result.below.push_back(path.substr(at, next - at));
    at = next + 1;
  }
  result.name = path.substr(at);
  return result;
}

struct filled {
  std::string text;
  size_t first = std::string::npos;
  bool has_rank = false;
};

filled fill(const std::string& pattern, const std::string& nspace,
            const std::string& rank) {
  filled result;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const auto next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (pattern[i] != '%' || (next != 'n' && next != 'r' && next != '%')) {
      result.text += pattern[i];
      continue;
    }
    ++i;
    if (next != '%' && result.first == std::string::npos)
      result.first = result.text.size();
    result.has_rank = result.has_rank || next == 'r';
    result.text += next == 'n' ? nspace : next == 'r' ? rank : "%";
  }
  return result;
}

} // namespace

bool has_files(const io_wiring& wiring) noexcept {
  return !wiring.directory.empty() || !wiring.file.empty();
}

output_file file_of(const io_job_begun& job, const io_stream& stream) {
  const auto& wiring = job.wiring;
  const auto name =
    wiring.merge ? std::string_view{"stdout"} : stream_name(stream.channel);
  const auto nspace = part_of(stream.source.nspace);
  const auto rank = padded(stream.source.rank, job.size);
  if (!wiring.directory.empty()) {
    output_file result;
    result.folder = wiring.directory;
    result.below = {nspace, "rank." + rank};
    result.name = name;
    return result;
  }
  const std::string ending{ending_of(name)};
  if (!wiring.file_is_pattern) {
    const auto path = wiring.file + '.' + nspace + '.' + rank + ending;
    return split(path, wiring.file.size());
  }
  auto path = fill(wiring.file, nspace, rank);
  auto result = split(path.text + ending, path.first);
  result.is_shared = !path.has_rank && job.size != 1;
  return result;
}

std::string path_of(const output_file& file) {
  auto result = file.folder;
  const auto add = [&](const std::string& part) {
    if (!result.empty() && result.back() != '/')
      result += '/';
    result += part;
  };
  for (const auto& part : file.below)
    add(part);
  add(file.name);
  return result;
}

} // namespace troupe
