#include "actors/mesh/remoting/gateway_frames.hpp"

#include "messages/mesh_payload.hpp"

#include <caf/error.hpp>
#include <caf/exit_reason.hpp>
#include <caf/make_message.hpp>

#include <cstring>

namespace troupe {

template <class Inspector>
caf::error inspect(Inspector& f, byte_view& x) {
  if constexpr (Inspector::writes_state)
    return f.take_view(x.bytes);
  else
    f.put_text(x.bytes);
  return caf::none;
}

TROUPE_INSPECT(given_handle, x.id, x.key)
TROUPE_INSPECT(typed_handle, x.rank, x.incarnation, x.id, x.digests)
TROUPE_INSPECT(far_handle, x.rank, x.incarnation, x.id, x.key)
TROUPE_INSPECT(greeting_frame, x.version, x.mine, x.yours)
TROUPE_INSPECT(message_frame, x.to, x.from, x.key, x.far_from, x.mid, x.given,
               x.content, x.typed)
TROUPE_INSPECT(watch_frame, x.id, x.key)
TROUPE_INSPECT(refused_watch_frame, x.id)
TROUPE_INSPECT(release_frame, x.id, x.count)
TROUPE_INSPECT(down_frame, x.id, x.code, x.category, x.reason)
TROUPE_INSPECT(link_frame, x.theirs, x.mine, x.key, x.is_linked)
TROUPE_INSPECT(moved_frame, x.from, x.mid, x.rank)
TROUPE_INSPECT(lost_way_frame, x.rank)
TROUPE_INSPECT(ask_frame, x.number, x.is_spawn, x.name, x.given, x.content,
               x.typed)
TROUPE_INSPECT(answer_frame, x.number, x.interface, x.given, x.content, x.typed)
TROUPE_INSPECT(taken_frame, x.bytes, x.asks)

namespace {

template <class T>
void put(char*& to, T x) {
  std::memcpy(to, &x, sizeof(x));
  to += sizeof(x);
}

template <class T>
T get(const char*& from) {
  auto x = T{};
  std::memcpy(&x, from, sizeof(x));
  from += sizeof(x);
  return x;
}

} // namespace

void begin_bundle(std::string& out) {
  out.assign(bundle_header_size, '\0');
}

void append_frame(std::string& out, const gateway_frame& x) {
  codec_writer{out}.write(x);
}

void put_header(std::string& bundle, const bundle_header& x) {
  auto* to = bundle.data();
  put(to, gateway_payload);
  put(to, x.mine);
  put(to, x.yours);
  put(to, x.number);
}

std::optional<bundle_header> header_of(std::string_view bundle) {
  if (bundle.size() < bundle_header_size || !is_for_gateway(bundle))
    return std::nullopt;
  const auto* from = bundle.data() + 1;
  auto result = bundle_header{};
  result.mine = get<uint32_t>(from);
  result.yours = get<uint32_t>(from);
  result.number = get<uint64_t>(from);
  return result;
}

bundle_reader::bundle_reader(std::string_view bundle)
  : in_(bundle.substr(std::min(bundle.size(), bundle_header_size))) {
  // nop
}

caf::expected<std::optional<gateway_frame>> bundle_reader::next() {
  if (in_.remaining() == 0)
    return std::optional<gateway_frame>{};
  auto result = std::optional<gateway_frame>{std::in_place};
  if (auto err = in_.read(*result))
    return err;
  return result;
}

down_frame make_down(uint64_t id, const caf::error& x) {
  if (!x)
    return {id, 0, static_cast<uint64_t>(caf::atom("exit")), {}};
  return {id, x.code(), static_cast<uint64_t>(x.category()),
          x.context().match_elements<std::string>()
            ? x.context().get_as<std::string>(0)
            : std::string{}};
}

caf::error error_of(const down_frame& x) {
  if (x.code == 0)
    return {};
  return {x.code, static_cast<caf::atom_value>(x.category),
          x.reason.empty() ? caf::message{} : caf::make_message(x.reason)};
}

} // namespace troupe
