// Whatever processes write, and in whatever pieces it comes: the same text, in
// lines that can be read.

#include "actors/io/output_formatter.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <nlohmann/json.hpp>

using namespace troupe;
using wire::fuzz::require;
using wire::fuzz::take_byte;

namespace {

output_format take_format(std::string_view& input) {
  const auto bits = take_byte(input) | take_byte(input) << 8;
  const auto has = [&](int bit) { return (bits >> bit & 1) != 0; };
  auto result = output_format{};
  result.label = has(0);
  result.timestamp = has(1);
  result.json = has(2);
  result.tag = has(3);
  result.tag_detailed = has(4);
  result.tag_fullname = has(5);
  result.rank = has(6);
  result.xml = has(7);
  result.iso_time = has(8);
  return result;
}

io_stream take_stream(std::string_view& input) {
  auto result = io_stream{};
  const auto size = std::min<size_t>(take_byte(input) % 16, input.size());
  result.source = {std::string{input.substr(0, size)}, take_byte(input)};
  input.remove_prefix(std::min(size, input.size()));
  result.channel =
    take_byte(input) % 2 == 0 ? io_channels::stdout_ : io_channels::stddiag;
  return result;
}

std::string show_time(int64_t) {
  return "2025-11-20T16:43:59.123+01:00";
}

std::string host_of(const proc_id&) {
  return "host";
}

/// Formats a stream in pieces, whose sizes another sequence of bytes says.
std::string format(const output_format& how, const io_stream& stream,
                   std::string_view bytes, std::string_view sizes,
                   uint64_t missed) {
  auto uut = output_formatter{how, show_time, host_of};
  auto result = std::string{};
  auto at = uint64_t{0};
  const auto give = [&](std::string_view part, bool is_end) {
    auto x = io_fragment{};
    x.stream = stream;
    x.offset = at;
    x.bytes = std::string{part};
    x.is_end = is_end;
    x.pid = 4711;
    x.missed = at == 0 ? missed : 0;
    at += part.size();
    result += uut.format(std::move(x));
    require(uut.unfinished() <= output_formatter::max_line,
            "what is kept of a line is bounded");
  };
  for (; !bytes.empty() && !sizes.empty(); sizes.remove_prefix(1)) {
    const auto size =
      std::min<size_t>(static_cast<uint8_t>(sizes.front()) + 1U, bytes.size());
    give(bytes.substr(0, size), false);
    bytes.remove_prefix(size);
  }
  give(bytes, true);
  require(uut.unfinished() == 0, "nothing is kept beyond the end");
  return result;
}

/// A line of JSON for each line, which holds it.
void check_json(std::string_view text, std::string_view bytes) {
  auto size = size_t{0};
  while (!text.empty()) {
    const auto end = text.find('\n');
    require(end != std::string_view::npos, "each line has an end");
    const auto line =
      nlohmann::json::parse(text.substr(0, end), nullptr, false);
    require(line.is_object(), "each line is an object");
    if (line.contains("data"))
      size += line["data"].get<std::string>().size();
    else if (line.contains("data_base64"))
      size += line["data_base64"].get<std::string>().size() / 4 * 3;
    text.remove_prefix(end + 1);
  }
  require(size >= bytes.size(), "no byte is missing");
}

/// Tags and entities, and nothing else that means something.
void check_xml(std::string_view text) {
  auto depth = 0;
  for (const auto c : text) {
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    require(depth == 0 || depth == 1, "tags are not within tags");
    require(c == '\n' || (static_cast<uint8_t>(c) >= 0x20 && c != 0x7f),
            "there are no control characters");
  }
  require(depth == 0, "tags are closed");
}

} // namespace

TROUPE_FUZZ(input) {
  const auto how = take_format(input);
  const auto stream = take_stream(input);
  const auto missed = take_byte(input) % 4 == 0 ? take_byte(input) : 0;
  const auto half = input.size() / 2;
  const auto bytes = input.substr(half);
  const auto whole = format(how, stream, bytes, {}, missed);
  require(whole == format(how, stream, bytes, input.substr(0, half), missed),
          "the text does not depend on the pieces");
  if (how.json)
    check_json(whole, bytes);
  else if (how.xml)
    check_xml(whole);
}
