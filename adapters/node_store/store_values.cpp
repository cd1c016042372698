#include "adapters/node_store/store_values.hpp"

#include "adapters/wire/pack_value.hpp"
#include "adapters/wire/unpack_value.hpp"
#include "adapters/wire/writer.hpp"

#include <utility>

namespace troupe {

namespace {

/// All who share a store have the same, whatever they speak with their server.
constexpr auto rules = wire::dialect{
  wire::packing_module::v51, false, {5, 0, 10}, false, true, true};

/// What a server says of a job.
constexpr auto job_rules =
  wire::dialect{wire::packing_module::v51, false, {5, 0, 10}, true, true, true};

} // namespace

bool pack_for_store(const value& x, std::string& out) {
  auto w = wire::writer{out, rules};
  wire::pack_value(w, x);
  return !w.finish();
}

std::optional<value> unpack_from_store(std::string_view bytes,
                                       wire::origin from) {
  auto r = wire::reader{bytes, rules, from};
  auto result = wire::unpack_value(r);
  r.expect_end();
  if (!r.ok())
    return std::nullopt;
  return result;
}

std::optional<value> take_from_store(std::string bytes, wire::origin from) {
  auto r = wire::reader{bytes, rules, from};
  if (r.type_tag() != data_type::byte_object)
    return unpack_from_store(bytes, from);
  const auto content = r.blob();
  r.expect_end();
  if (!r.ok())
    return std::nullopt;
  // It is the end of them.
  bytes.erase(0, bytes.size() - content.size());
  return value::bytes(std::move(bytes));
}

bool pack_entries_for_store(const std::vector<key_value>& xs,
                            std::string& out) {
  auto w = wire::writer{out, job_rules, wire::unreadable::left_out};
  wire::pack_key_values(w, xs);
  return !w.finish();
}

std::optional<std::vector<key_value>>
unpack_entries_from_store(std::string_view bytes) {
  auto r = wire::reader{bytes, job_rules, wire::origin::server};
  auto result = wire::unpack_key_values(r);
  r.expect_end();
  if (!r.ok())
    return std::nullopt;
  return result;
}

} // namespace troupe
