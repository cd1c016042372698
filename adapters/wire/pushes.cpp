#include "adapters/wire/pushes.hpp"

#include "adapters/wire/pack_value.hpp"
#include "adapters/wire/requests.hpp"
#include "adapters/wire/unpack_value.hpp"
#include "messages/status.hpp"

namespace troupe::wire {

// -- events ------------------------------------------------------------------

caf::error encode_event(const event& x, const dialect& d, std::string& out,
                        event_form form) {
  auto w = writer{out, d, unreadable::left_out};
  w.pack(data_type::command);
  w.byte(static_cast<uint8_t>(command::notify));
  w.pack(data_type::status);
  w.signed_integer(static_cast<int32_t>(x.code), 4);
  w.pack(data_type::proc);
  pack_proc(w, x.source);
  pack_infos(w, x.infos);
  if (form == event_form::with_range) {
    w.pack(data_type::data_range);
    w.byte(static_cast<uint8_t>(x.range));
  }
  return w.finish();
}

caf::expected<event> decode_event(std::string_view payload, const dialect& d) {
  auto r = reader{payload, d, origin::server};
  auto x = event{};
  r.pack_exactly(data_type::command, 1);
  if (r.byte() != static_cast<uint8_t>(command::notify))
    r.fail("an event is marked as something else", status::type_mismatch);
  r.pack_exactly(data_type::status, 1);
  x.code = static_cast<status>(r.signed_integer(4));
  r.pack_exactly(data_type::proc, 1);
  x.source = unpack_proc(r);
  x.infos = unpack_infos(r);
  if (r.left() > 0) {
    r.pack_exactly(data_type::data_range, 1);
    x.range = static_cast<data_range>(r.byte());
  }
  r.expect_end();
  if (!r.ok())
    return r.failure();
  return x;
}

// -- output ------------------------------------------------------------------

namespace {

void pack_stream(writer& w, const proc_id& source, io_channels channel) {
  w.pack(data_type::proc);
  pack_proc(w, source);
  w.pack(data_type::iof_channel);
  w.unsigned_integer(static_cast<uint16_t>(channel), 2);
}

void unpack_stream(reader& r, proc_id& source, io_channels& channel) {
  r.pack_exactly(data_type::proc, 1);
  source = unpack_proc(r);
  r.pack_exactly(data_type::iof_channel, 1);
  channel = static_cast<io_channels>(r.unsigned_integer(2));
}

} // namespace

caf::error encode_output(const io_delivery& x, const dialect& d,
                         std::string& out) {
  auto w = writer{out, d, unreadable::left_out};
  pack_stream(w, x.source, x.channel);
  w.packed_size(x.handler);
  pack_infos(w, x.infos);
  w.pack(data_type::byte_object);
  w.blob(x.bytes);
  return w.finish();
}

caf::expected<io_delivery> decode_output(std::string_view payload,
                                         const dialect& d) {
  auto r = reader{payload, d, origin::server};
  auto x = io_delivery{};
  unpack_stream(r, x.source, x.channel);
  r.pack_exactly(data_type::size, 1);
  x.handler = r.unsigned_integer(8);
  x.infos = unpack_infos(r);
  r.pack_exactly(data_type::byte_object, 1);
  x.bytes = std::string{r.blob()};
  r.expect_end();
  if (!r.ok())
    return r.failure();
  return x;
}

// -- input -------------------------------------------------------------------

bool knows_flow_control(const release& peer) {
  return !(peer < release{7, 0, 0});
}

caf::error encode_flow_control(const flow_control& x, const dialect& d,
                               std::string& out) {
  auto w = writer{out, d, unreadable::left_out};
  pack_stream(w, x.source, x.channel);
  w.pack(data_type::bool_);
  w.byte(x.is_stop ? 1 : 0);
  pack_infos(w, x.directives);
  return w.finish();
}

caf::expected<flow_control> decode_flow_control(std::string_view payload,
                                                const dialect& d) {
  auto r = reader{payload, d, origin::server};
  auto x = flow_control{};
  unpack_stream(r, x.source, x.channel);
  r.pack_exactly(data_type::bool_, 1);
  x.is_stop = r.byte() != 0;
  x.directives = unpack_infos(r);
  r.expect_end();
  if (!r.ok())
    return r.failure();
  return x;
}

// -- between ourselves -------------------------------------------------------

namespace {

bool has_mark(std::string_view version, std::string_view mark) {
  return version.size() > mark.size()
         && version.substr(version.size() - mark.size()) == mark;
}

} // namespace

bool is_own_library(std::string_view version) {
  return has_mark(version, own_mark);
}

bool can_share_memory(std::string_view version) {
  return has_mark(version, sharing_mark);
}

void encode_output_credit(uint64_t bytes, std::string& out) {
  for (auto shift = 56; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(bytes >> shift));
}

caf::expected<uint64_t> decode_output_credit(std::string_view payload) {
  auto result = uint64_t{0};
  if (payload.size() != sizeof(result))
    return make_error(status::type_mismatch, "a credit for output has "
                                               + std::to_string(payload.size())
                                               + " bytes, not 8");
  for (const auto x : payload)
    result = result << 8 | static_cast<uint8_t>(x);
  return result;
}

} // namespace troupe::wire
