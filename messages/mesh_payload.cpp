#include "messages/mesh_payload.hpp"

#include "messages/bounded_codec.hpp"
#include "messages/value_inspect.hpp"

namespace troupe {

// -- frames, as far as they are relayed ---------------------------------------

namespace {

template <class T, class Variant, size_t I = 0>
constexpr size_t alternative() {
  if constexpr (std::is_same_v<T, std::variant_alternative_t<I, Variant>>)
    return I;
  else
    return alternative<T, Variant, I + 1>();
}

template <class T>
constexpr auto
  alternative_of = static_cast<uint8_t>(alternative<T, mesh_payload>());

/// Room for most payloads, so that they need not grow step by step.
constexpr size_t usual_payload = 256;

template <class T>
std::string write_payload(const T& x) {
  auto result = std::string{};
  result.reserve(usual_payload);
  auto out = codec_writer{result};
  out.put_byte(alternative_of<T>);
  out.write(x);
  return result;
}

} // namespace

TROUPE_INSPECT(incarnation, x.node, x.boot)
TROUPE_INSPECT(session_name, x.of, x.number, x.token)
TROUPE_INSPECT(acknowledgement, x.classes, x.next, x.limit)
TROUPE_INSPECT(hello_frame, x.sender, x.receiver, x.received, x.lane)
TROUPE_INSPECT(data_frame, x.session, x.of, x.number, x.received, x.payload)
TROUPE_INSPECT(ack_frame, x.session, x.received)
TROUPE_INSPECT(probe_frame, x.session, x.number, x.is_answer, x.received)
TROUPE_INSPECT(gone_frame, x.session, x.lane, x.received)
TROUPE_INSPECT(relayed_frame, x.from, x.to, x.via, x.hops, x.frame)

template <class Inspector>
caf::error inspect(Inspector& f, peer_payload& x) {
  if constexpr (Inspector::writes_state) {
    auto bytes = std::string_view{};
    if (auto err = f.take_view(bytes))
      return err;
    x = make_payload(std::make_shared<const std::string>(bytes));
  } else {
    f.put_text(bytes_of(x));
  }
  return caf::none;
}

// -- payloads -----------------------------------------------------------------

std::string to_payload(const node_message& x) {
  return write_payload(x);
}

std::string to_payload(const host_message& x) {
  return write_payload(x);
}

std::string to_payload(const relayed_frame& x) {
  return write_payload(x);
}

std::string to_payload(const message_part& x) {
  return write_payload(x);
}

caf::expected<mesh_payload> read_payload(std::string_view bytes) {
  return decode<mesh_payload>(bytes);
}

bool is_part(std::string_view bytes) {
  return !bytes.empty()
         && static_cast<uint8_t>(bytes.front()) == alternative_of<message_part>;
}

std::string pack_data(const std::vector<proc_data>& x) {
  return encode(x);
}

std::optional<std::vector<proc_data>> unpack_data(std::string_view bytes) {
  auto result = decode<std::vector<proc_data>>(bytes);
  if (!result)
    return std::nullopt;
  return std::move(*result);
}

std::string pack_map(const job_map& x) {
  return encode(x);
}

std::optional<job_map> unpack_map(std::string_view bytes) {
  auto result = decode<job_map>(bytes);
  if (!result)
    return std::nullopt;
  return std::move(*result);
}

std::string_view bytes_of(const peer_payload& x) {
  return {static_cast<const char*>(x.data.get()), x.size};
}

peer_payload make_payload(std::shared_ptr<const std::string> owner) {
  const auto* data = owner->data();
  const auto size = owner->size();
  const auto* text = owner.get();
  return {std::shared_ptr<const void>{std::move(owner), data}, size, text};
}

std::shared_ptr<const std::string> text_of(const peer_payload& x) {
  if (x.text == nullptr)
    return std::make_shared<const std::string>(bytes_of(x));
  return {x.data, x.text};
}

} // namespace troupe
