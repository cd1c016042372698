#include "actors/io/output_buffers.hpp"

#include "actors/io/defaults.hpp"

namespace troupe {

std::string whole_lines::add(io_fragment&& x) {
  auto& kept = streams_[{x.stream.source, x.stream.channel}];
  if (streams_.size() > 1)
    is_shared_ = true;
  held_ -= kept.line.size();
  // What is new decides where the text ends: a long line costs what short ones
  // do.
  const auto newline = x.bytes.rfind('\n');
  const auto has_end = newline != std::string::npos;
  const auto rest =
    has_end ? x.bytes.size() - newline - 1 : x.bytes.size() + kept.line.size();
  const auto is_kept = is_shared_ && !x.is_end && x.missed == 0
                       && rest <= max_line
                       && held_ + rest <= defaults::io_unfinished_lines;
  if (!is_kept || rest == 0) {
    auto text = std::move(kept.line);
    kept.line.clear();
    if (text.empty())
      text = std::move(x.bytes);
    else
      text += x.bytes;
    if (x.is_end)
      streams_.erase({x.stream.source, x.stream.channel});
    return text;
  }
  if (!has_end) {
    if (kept.line.empty())
      kept.since = period_;
    kept.line += x.bytes;
    held_ += kept.line.size();
    return {};
  }
  auto text = std::move(kept.line);
  kept.line = x.bytes.substr(newline + 1);
  kept.since = period_;
  held_ += rest;
  x.bytes.resize(newline + 1);
  if (text.empty())
    return std::move(x.bytes);
  text += x.bytes;
  return text;
}

std::string whole_lines::advance() {
  std::string result;
  for (auto& [_, kept] : streams_)
    if (!kept.line.empty() && kept.since < period_) {
      held_ -= kept.line.size();
      result += kept.line;
      kept.line.clear();
    }
  ++period_;
  return result;
}

} // namespace troupe
