#include "adapters/c_host/modex_blob.hpp"

#include "adapters/wire/pack_value.hpp"
#include "adapters/wire/unpack_value.hpp"

namespace troupe {

namespace {

constexpr auto magic = std::string_view{"TRP1"};
constexpr auto header_size = magic.size() + 4;

/// The richest rules that we have, so that nothing is lost on the way.
wire::dialect rules() {
  auto result = wire::dialect{};
  result.module = wire::packing_module::v61;
  result.peer = {6, 1, 0};
  result.signed_data_type = false;
  return result;
}

proc_data unpack_proc_data(wire::reader& r) {
  auto result = proc_data{wire::unpack_proc(r), {}};
  result.entries =
    wire::unpack_list(r, data_type::kval, wire::unpack_key_value);
  return result;
}

void pack_proc_data(wire::writer& w, const proc_data& x) {
  wire::pack_proc(w, x.proc);
  wire::pack_list(w, data_type::kval, x.entries, wire::pack_key_value);
}

caf::error refusal(const char* why) {
  return make_error(status::unpack_failure,
                    std::string{"data from other nodes: "} + why
                      + "; do all servers run the same release?");
}

} // namespace

caf::expected<std::string> to_modex_blob(const std::vector<proc_data>& data) {
  if (data.empty())
    return std::string{};
  auto body = std::string{};
  auto w = wire::writer{body, rules()};
  wire::pack_list(w, data_type::proc, data, pack_proc_data);
  if (auto err = w.finish())
    return err;
  auto result = std::string{magic};
  for (auto shift = 24; shift >= 0; shift -= 8)
    result.push_back(static_cast<char>(body.size() >> shift & 0xff));
  return result + body;
}

caf::expected<std::vector<proc_data>> from_modex_blob(std::string_view bytes) {
  auto result = std::vector<proc_data>{};
  while (!bytes.empty()) {
    if (bytes.size() < header_size || bytes.substr(0, magic.size()) != magic)
      return refusal("this is none of ours");
    auto size = size_t{0};
    for (const auto x : bytes.substr(magic.size(), 4))
      size = size << 8 | static_cast<unsigned char>(x);
    bytes.remove_prefix(header_size);
    if (size > bytes.size())
      return refusal("it ends too early");
    auto r = wire::reader{bytes.substr(0, size), rules(), wire::origin::server};
    auto part = wire::unpack_list(r, data_type::proc, unpack_proc_data);
    r.expect_end();
    if (!r.ok())
      return r.failure();
    for (auto& x : part)
      result.push_back(std::move(x));
    bytes.remove_prefix(size);
  }
  return result;
}

} // namespace troupe
