#include "actors/jobs/io_directives.hpp"

#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace troupe {

namespace {

template <class Keys>
bool is_among(const Keys& keys, std::string_view key) {
  return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

/// How output is shown and kept together.
bool is_format(std::string_view key) {
  static constexpr std::string_view keys[] = {
    attr::iof_tag_output,          attr::tag_output,
    attr::iof_tag_detailed_output, attr::iof_tag_fullname_output,
    attr::iof_rank_output,         attr::iof_timestamp_output,
    attr::timestamp_output,        attr::iof_xml_output,
    attr::iof_output_raw,          attr::iof_buffering_size,
    attr::iof_buffering_time,      io_offsets_key};
  return is_among(keys, key);
}

/// What becomes of too much. Input is never too much: its source waits.
bool is_bound(std::string_view key) {
  static constexpr std::string_view keys[] = {
    attr::iof_cache_size, attr::iof_drop_oldest, attr::iof_drop_newest};
  return is_among(keys, key);
}

bool is_of_pull(std::string_view key) {
  // Each reader has a copy: nothing is taken from others by PMIX_IOF_REDIRECT.
  static constexpr std::string_view keys[] = {attr::iof_copy, io_offset_key,
                                              io_start_key};
  return is_format(key) || is_bound(key) || is_among(keys, key);
}

bool is_of_push(std::string_view key) {
  static constexpr std::string_view keys[] = {
    attr::iof_push_stdin, attr::iof_complete, attr::iof_stop, io_offset_key};
  return is_bound(key) || is_among(keys, key);
}

bool is_of_spawn(std::string_view key) {
  static constexpr std::string_view keys[] = {attr::iof_copy,
                                              attr::iof_inherit,
                                              attr::iof_merge_stderr_stdout,
                                              attr::iof_output_to_file,
                                              attr::iof_file_pattern,
                                              attr::iof_output_to_directory,
                                              attr::iof_file_only};
  constexpr auto ours = std::string_view{"pmix.iof."};
  return key.substr(0, ours.size()) != ours || is_format(key) || is_bound(key)
         || is_among(keys, key);
}

bool is_known(io_call call, std::string_view key) {
  switch (call) {
    case io_call::pull:
      return is_of_pull(key);
    case io_call::push:
      return is_of_push(key);
    case io_call::spawn:
      return is_of_spawn(key);
    default:
      return key == attr::iof_stop;
  }
}

} // namespace

caf::error check_required(io_call call, const std::vector<info>& directives) {
  for (const auto& x : directives) {
    if ((x.flags & info_required) == 0 || is_known(call, x.key))
      continue;
    const auto* known = attribute_of(x.key);
    return make_error(
      status::not_supported,
      "directive " + std::string{known != nullptr ? known->c_name : x.key}
        + " is required, but I/O forwarding does not act upon it");
  }
  return {};
}

} // namespace troupe
