#include "adapters/networks/frame_codec.hpp"

#include "messages/mesh_payload.hpp"
#include "messages/status.hpp"

#include <zlib.h>

#include <algorithm>
#include <bitset>
#include <cstring>
#include <type_traits>
#include <utility>

namespace troupe {

namespace {

constexpr size_t checked_size = 6;

constexpr uint8_t data_kind = 1;

/// Where a message's content says which classes it acknowledges.
constexpr size_t data_classes_at = 17;

/// What a reader keeps for the next frame in pieces.
constexpr size_t kept_capacity = size_t{64} << 10;

static_assert(std::variant_size_v<lane_frame> == 5);

/// @param before Sum of what stands before the bytes.
uint32_t sum_of(std::string_view bytes, uint32_t before = 0) {
  // zlib begins anew where there is no pointer.
  if (bytes.empty())
    return before;
  return static_cast<uint32_t>(::crc32_z(
    before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// -- writing -----------------------------------------------------------------

class writer {
public:
  explicit writer(std::string& out) : out_(out) {
    // nop
  }

  template <class T>
  void put(T x) {
    static_assert(std::is_unsigned_v<T>);
    char bytes[sizeof(T)];
    for (size_t i = 0; i < sizeof(T); ++i)
      bytes[i] = static_cast<char>(x >> (8 * i) & 0xFF);
    out_.append(bytes, sizeof(T));
  }

  void put(const session_name& x) {
    put(x.of.node);
    put(x.of.boot);
    put(x.number);
    out_.append(reinterpret_cast<const char*>(x.token.data()), x.token.size());
  }

  void put(const acknowledgement& x) {
    put(x.classes);
    for (size_t i = 0; i < traffic_classes; ++i)
      if (x.speaks_of(i)) {
        put(x.next[i]);
        put(x.limit[i]);
      }
  }

  void put(const hello_frame& x) {
    put(x.sender);
    put(x.receiver);
    put(x.lane);
    put(x.received);
  }

  void put(const data_frame& x) {
    put(x.session);
    put(static_cast<uint8_t>(x.of));
    put(x.number);
    put(x.received);
  }

  void put(const ack_frame& x) {
    put(x.session);
    put(x.received);
  }

  void put(const probe_frame& x) {
    put(x.session);
    put(x.number);
    put(static_cast<uint8_t>(x.is_answer ? 1 : 0));
    put(x.received);
  }

  void put(const gone_frame& x) {
    put(x.session);
    put(x.lane);
    put(x.received);
  }

private:
  std::string& out_;
};

template <class T>
void overwrite(std::string& out, size_t at, T x) {
  for (size_t i = 0; i < sizeof(T); ++i)
    out[at + i] = static_cast<char>(x >> (8 * i) & 0xFF);
}

std::string_view payload_of(const lane_frame& frame) {
  const auto* x = std::get_if<data_frame>(&frame);
  if (x == nullptr || !x->payload.data)
    return {};
  return bytes_of(x->payload);
}

// -- reading -----------------------------------------------------------------

/// Reads fields; once one is missing or out of range, all that follows is zero
/// and `is_good` stays false.
class reader {
public:
  explicit reader(std::string_view bytes) : bytes_(bytes) {
    // nop
  }

  bool is_good() const noexcept {
    return is_good_;
  }

  std::string_view rest() const noexcept {
    return bytes_;
  }

  template <class T>
  T get() {
    static_assert(std::is_unsigned_v<T>);
    T result = 0;
    if (!has(sizeof(T)))
      return result;
    for (size_t i = 0; i < sizeof(T); ++i)
      result |= static_cast<T>(static_cast<T>(static_cast<uint8_t>(bytes_[i]))
                               << (8 * i));
    bytes_.remove_prefix(sizeof(T));
    return result;
  }

  /// A number below `end`.
  uint8_t get_below(uint8_t end) {
    const auto result = get<uint8_t>();
    if (result < end)
      return result;
    is_good_ = false;
    return 0;
  }

  session_name get_name() {
    session_name result;
    result.of.node = get<uint32_t>();
    result.of.boot = get<uint64_t>();
    result.number = get<uint64_t>();
    if (has(result.token.size())) {
      std::memcpy(result.token.data(), bytes_.data(), result.token.size());
      bytes_.remove_prefix(result.token.size());
    }
    return result;
  }

  acknowledgement get_acknowledgement() {
    acknowledgement result;
    result.classes = get_below(all_classes + 1);
    for (size_t i = 0; i < traffic_classes; ++i)
      if (result.speaks_of(i)) {
        result.next[i] = get<uint64_t>();
        result.limit[i] = get<uint64_t>();
      }
    return result;
  }

private:
  bool has(size_t size) {
    is_good_ = is_good_ && bytes_.size() >= size;
    return is_good_;
  }

  std::string_view bytes_;
  bool is_good_ = true;
};

hello_frame read_hello(reader& in) {
  hello_frame result;
  result.sender = in.get_name();
  result.receiver = in.get_name();
  result.lane = in.get<uint64_t>();
  result.received = in.get_acknowledgement();
  return result;
}

/// All but the payload.
data_frame read_data(reader& in) {
  data_frame result;
  result.session = in.get<uint64_t>();
  result.of = static_cast<traffic_class>(in.get_below(traffic_classes));
  result.number = in.get<uint64_t>();
  result.received = in.get_acknowledgement();
  return result;
}

ack_frame read_ack(reader& in) {
  ack_frame result;
  result.session = in.get<uint64_t>();
  result.received = in.get_acknowledgement();
  return result;
}

probe_frame read_probe(reader& in) {
  probe_frame result;
  result.session = in.get<uint64_t>();
  result.number = in.get<uint64_t>();
  result.is_answer = in.get_below(2) == 1;
  result.received = in.get_acknowledgement();
  return result;
}

gone_frame read_gone(reader& in) {
  gone_frame result;
  result.session = in.get<uint64_t>();
  result.lane = in.get<uint64_t>();
  result.received = in.get_acknowledgement();
  return result;
}

caf::error broken(const std::string& what) {
  return make_error(status::bad_param, "not a frame: " + what);
}

} // namespace

size_t encode_frame(const lane_frame& frame, std::string& out, size_t size_max,
                    frame_check check) {
  const auto begin = out.size();
  out.append(frame_header_size, '\0');
  writer to{out};
  std::visit([&](const auto& x) { to.put(x); }, frame);
  const auto content = begin + frame_header_size;
  const auto payload = payload_of(frame);
  auto sum = uint32_t{0};
  if (check == frame_check::sum)
    sum = sum_of(payload, sum_of(std::string_view{out}.substr(content)));
  const auto size = out.size() - content + payload.size();
  const auto part =
    payload.substr(0, size_max - std::min(size_max, out.size()));
  out.append(part);
  overwrite(out, begin, static_cast<uint32_t>(size));
  overwrite(out, begin + 4, static_cast<uint8_t>(frame.index()));
  const auto checked = std::string_view{out}.substr(begin, checked_size);
  overwrite(out, begin + checked_size,
            static_cast<uint16_t>(sum_of(checked) & 0xFFFF));
  overwrite(out, begin + 8, sum);
  return part.size();
}

caf::expected<lane_frame> decode_frame_content(uint8_t kind,
                                               std::string_view content) {
  reader in{content};
  lane_frame result;
  switch (kind) {
    case 0:
      result = read_hello(in);
      break;
    case data_kind:
      result = read_data(in);
      break;
    case 2:
      result = read_ack(in);
      break;
    case 3:
      result = read_probe(in);
      break;
    case 4:
      result = read_gone(in);
      break;
    default:
      return broken("there is no kind " + std::to_string(kind));
  }
  if (!in.is_good())
    return broken("a field is missing or out of range");
  if (auto* x = std::get_if<data_frame>(&result)) {
    x->payload = make_payload(std::make_shared<const std::string>(in.rest()));
  } else if (!in.rest().empty()) {
    return broken(std::to_string(in.rest().size()) + " bytes too many");
  }
  return result;
}

// -- frame_reader ------------------------------------------------------------

void frame_reader::push(std::string_view bytes) {
  rest_ = bytes;
}

caf::expected<frame_reader::header>
frame_reader::read_header(std::string_view bytes) const {
  reader in{bytes};
  header result;
  result.size = frame_header_size + in.get<uint32_t>();
  result.kind = in.get<uint8_t>();
  const auto zero = in.get<uint8_t>();
  const auto check = in.get<uint16_t>();
  result.sum = in.get<uint32_t>();
  if (check != (sum_of(bytes.substr(0, checked_size)) & 0xFFFF) || zero != 0)
    return broken("the header's checksum is wrong");
  if (result.kind >= std::variant_size_v<lane_frame>)
    return broken("there is no kind " + std::to_string(result.kind));
  const auto limit =
    result.kind == data_kind
      ? frame_max_
      : std::min(frame_max_, frame_header_size + frame_fields_max);
  if (result.size > limit)
    return broken(std::to_string(result.size) + " bytes, limit "
                  + std::to_string(limit) + " (L22)");
  return result;
}

caf::error frame_reader::check_sum(const header& head, std::string_view content,
                                   std::string_view payload) const {
  const auto expected =
    check_ == frame_check::sum ? sum_of(payload, sum_of(content)) : 0;
  return head.sum == expected ? caf::error{} : broken("the checksum is wrong");
}

caf::expected<lane_frame>
frame_reader::read_frame(std::string_view bytes) const {
  auto head = read_header(bytes);
  if (!head)
    return std::move(head.error());
  const auto content = bytes.substr(frame_header_size);
  if (auto err = check_sum(*head, content))
    return err;
  return decode_frame_content(head->kind, content);
}

/// Takes the frame that is held, all of which is there.
caf::expected<lane_frame> frame_reader::read_held(const header& head) {
  const auto content = std::string_view{held_}.substr(frame_header_size);
  if (auto err = check_sum(head, content, payload_))
    return err;
  auto result = decode_frame_content(head.kind, content);
  filled_ = 0;
  auto payload = std::exchange(payload_, {});
  if (result && !payload.empty())
    std::get<data_frame>(*result).payload =
      make_payload(std::make_shared<const std::string>(std::move(payload)));
  return result;
}

/// Moves bytes of a frame to what is held.
/// @pre Its header is.
/// @returns whether all of it is there.
bool frame_reader::hold(const header& head) {
  if (head.kind != data_kind)
    return fill(head.size);
  const auto fields_min = frame_header_size + data_classes_at + 1;
  if (!fill(std::min(head.size, fields_min)))
    return false;
  if (head.size < fields_min)
    return true; // To be refused.
  const auto classes = static_cast<uint8_t>(held_[fields_min - 1]);
  const auto fields = fields_min + 16 * std::bitset<8>{classes}.count();
  if (!fill(std::min(head.size, fields)))
    return false;
  return fill_payload(head.size - held_.size());
}

/// Moves bytes to `held_` until it has `size`.
/// @returns whether it has.
bool frame_reader::fill(size_t size) {
  const auto missing = size - std::min(size, held_.size());
  const auto n = std::min(missing, rest_.size());
  held_.append(rest_.substr(0, n));
  rest_.remove_prefix(n);
  return n == missing;
}

/// The same for the payload.
bool frame_reader::fill_payload(size_t size) {
  const auto bytes = rest_.substr(0, size - filled_);
  rest_.remove_prefix(bytes.size());
  // No more memory than what has come can justify.
  constexpr size_t trust = 6;
  if (payload_.size() < size && (filled_ + bytes.size()) * trust >= size)
    payload_.resize(size);
  if (payload_.size() == size)
    std::copy(bytes.begin(), bytes.end(), payload_.data() + filled_);
  else
    payload_.append(bytes);
  filled_ += bytes.size();
  return filled_ == size;
}

caf::expected<std::optional<lane_frame>> frame_reader::next() {
  const auto fail = [this](caf::error why) {
    broken_ = std::move(why);
    held_.clear();
    payload_.clear();
    filled_ = 0;
    rest_ = {};
    return broken_;
  };
  if (broken_)
    return broken_;
  const auto is_held = !held_.empty();
  if ((is_held || rest_.size() < frame_header_size) && !fill(frame_header_size))
    return std::optional<lane_frame>{};
  auto head = read_header(held_.empty() ? rest_ : std::string_view{held_});
  if (!head)
    return fail(std::move(head.error()));
  if (held_.empty() && rest_.size() >= head->size) {
    auto result = read_frame(rest_.substr(0, head->size));
    if (!result)
      return fail(std::move(result.error()));
    rest_.remove_prefix(head->size);
    return std::optional<lane_frame>{std::move(*result)};
  }
  if (!fill(frame_header_size) || !hold(*head))
    return std::optional<lane_frame>{};
  auto result = read_held(*head);
  if (!result)
    return fail(std::move(result.error()));
  // A large frame now and then should not cost each lane its size for ever.
  if (held_.capacity() > kept_capacity)
    held_ = {};
  else
    held_.clear();
  return std::optional<lane_frame>{std::move(*result)};
}

} // namespace troupe
