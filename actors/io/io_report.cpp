#include "actors/io/io_report.hpp"

#include "actors/mesh/mesh_report.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace troupe {

namespace {

info text(std::string_view key, std::string_view x) {
  return {std::string{key}, 0, value::string(std::string{x})};
}

info number(std::string_view key, uint64_t x) {
  return {std::string{key}, 0, value::uint64(x)};
}

value report_of(const io_sink_status& x) {
  return value::infos({text("name", x.name), text("policy", text_of(x.policy)),
                       number("taken", x.taken), number("missed", x.missed)});
}

value report_of(const io_stream_status& x) {
  auto sinks = std::vector<value>{};
  sinks.reserve(x.sinks.size());
  for (const auto& y : x.sinks)
    sinks.push_back(report_of(y));
  auto result = std::vector<info>{text("nspace", x.stream.source.nspace),
                                  number("rank", x.stream.source.rank),
                                  text("stream", text_of(x.stream.channel)),
                                  number("begin", x.begin),
                                  number("end", x.end),
                                  {"over", 0, value::boolean(x.is_over)},
                                  {"sinks", 0, report_list(std::move(sinks))}};
  return value::infos(std::move(result));
}

} // namespace

std::string_view text_of(io_channels x) {
  switch (x) {
    case io_channels::stdin_:
      return "stdin";
    case io_channels::stdout_:
      return "stdout";
    case io_channels::stderr_:
      return "stderr";
    case io_channels::stddiag:
      return "stddiag";
    default:
      return "output";
  }
}

std::string_view text_of(io_policy x) {
  switch (x) {
    case io_policy::drop_oldest:
      return "drop_oldest";
    case io_policy::drop_newest:
      return "drop_newest";
    default:
      return "block";
  }
}

value make_io_report(const io_list& x) {
  auto sorted = std::vector<const io_stream_status*>{};
  sorted.reserve(x.streams.size());
  for (const auto& y : x.streams)
    sorted.push_back(&y);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return std::tie(a->stream.source, a->stream.channel)
           < std::tie(b->stream.source, b->stream.channel);
  });
  auto items = std::vector<value>{};
  items.reserve(sorted.size());
  for (const auto* y : sorted)
    items.push_back(report_of(*y));
  return report_list(std::move(items));
}

} // namespace troupe
