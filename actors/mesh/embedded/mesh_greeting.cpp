#include "actors/mesh/embedded/mesh_greeting.hpp"

#include "messages/bounded_codec.hpp"
#include "messages/status.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// The layout; who sees another one is not greeted.
constexpr auto version = char{1};

caf::error refusal(const std::string& why) {
  return make_error(status::unpack_failure, why);
}

} // namespace

std::string to_bytes(const mesh_greeting& x) {
  return version + encode(x);
}

caf::expected<mesh_greeting> read_greeting(std::string_view bytes) {
  if (bytes.empty())
    return refusal("it is empty");
  if (bytes.size() > max_greeting_size)
    return refusal("it has " + std::to_string(bytes.size()) + " bytes");
  if (bytes.front() != version)
    return refusal("it is of version "
                   + std::to_string(static_cast<uint8_t>(bytes.front()))
                   + "; do all servers run the same release?");
  auto result = decode<mesh_greeting>(bytes.substr(1));
  if (!result)
    return refusal(reason_of(result.error()));
  if (result->addresses.size() > max_greeting_addresses)
    return refusal("it has " + std::to_string(result->addresses.size())
                   + " addresses");
  if (result->incarnation == 0 || result->certificate.empty())
    return refusal("it says too little");
  return result;
}

void add_greeting(host_collective& call, const std::string& nspace,
                  const mesh_greeting& x) {
  auto entry =
    key_value{std::string{mesh_greeting_key}, value::bytes(to_bytes(x))};
  call.data.insert(call.data.begin(),
                   proc_data{{nspace, rank_undef}, {std::move(entry)}});
}

std::vector<mesh_greeting> take_greetings(std::vector<proc_data>& data,
                                          const journal& log) {
  auto result = std::vector<mesh_greeting>{};
  const auto take = [&](const proc_data& x) {
    if (x.proc.rank != rank_undef || x.entries.size() != 1
        || x.entries.front().key != mesh_greeting_key)
      return false;
    const auto& val = x.entries.front().val;
    const auto* bytes = std::get_if<std::string>(&val.data);
    auto read =
      bytes != nullptr ? read_greeting(*bytes) : refusal("it is no bytes");
    if (read)
      result.push_back(std::move(*read));
    else if (log)
      log(severity::error, "a server's greeting in a fence of " + x.proc.nspace
                             + " is ignored: " + reason_of(read.error()));
    return true;
  };
  data.erase(std::remove_if(data.begin(), data.end(), take), data.end());
  return result;
}

} // namespace troupe
