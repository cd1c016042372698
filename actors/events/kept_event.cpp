#include "actors/events/kept_event.hpp"

#include "messages/bounded_codec.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

kept_event::pointer kept_event::whole(std::shared_ptr<const event> what) {
  auto result = pointer{new kept_event};
  result->whole_ = std::move(what);
  return result;
}

kept_event::pointer kept_event::packed(const event& what) {
  auto result = pointer{new kept_event};
  result->write(what);
  return result;
}

kept_event::pointer kept_event::of_bytes(std::string_view bytes) {
  auto result = pointer{new kept_event};
  result->keep(bytes);
  return result;
}

void kept_event::write(const event& what) {
  auto bytes = std::string{};
  bytes.reserve(512); // Most are smaller.
  auto out = codec_writer{bytes};
  out.write(what.range);
  out.write(what.infos);
  keep(bytes);
}

void kept_event::keep(std::string_view bytes) {
  bytes_ = std::make_unique<char[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), bytes_.get());
  size_ = static_cast<uint32_t>(bytes.size());
}

std::string_view kept_event::bytes() {
  if (bytes_ == nullptr)
    write(*whole_);
  return {bytes_.get(), size_};
}

std::shared_ptr<const event> kept_event::get(status code,
                                             const proc_id& source) const {
  if (whole_)
    return whole_;
  auto result = std::make_shared<event>();
  result->code = code;
  result->source = source;
  auto in = codec_reader{std::string_view{bytes_.get(), size_}};
  if (in.read(result->range) || in.read(result->infos) || in.expect_end())
    return nullptr;
  return result;
}

bool kept_event::unpack(status code, const proc_id& source) {
  whole_ = get(code, source);
  return whole_ != nullptr;
}

void kept_event::pack() {
  bytes();
  whole_ = nullptr;
}

} // namespace troupe
