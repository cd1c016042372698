#include "actors/io/io_report.hpp"

#include "base/report_values.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace troupe {

namespace {

value report_of(const io_sink_status& x) {
  return value::infos(
    {report_text("name", x.name), report_text("policy", text_of(x.policy)),
     report_number("taken", x.taken), report_number("missed", x.missed)});
}

value report_of(const io_stream_status& x) {
  auto result = std::vector<info>{
    report_text("nspace", x.stream.source.nspace),
    report_number("rank", x.stream.source.rank),
    report_text("stream", text_of(x.stream.channel)),
    report_number("begin", x.begin),
    report_number("end", x.end),
    report_flag("over", x.is_over),
    {"sinks", 0,
     report_list(x.sinks, [](const auto& y) { return report_of(y); })}};
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
  return report_list(sorted, [](const auto* y) { return report_of(*y); });
}

list_io streams_wanted(const requester& who, const query& what) {
  auto result = list_io{};
  if (who.creds.uid != 0)
    result.uid = who.creds.uid;
  if (auto nspace = text(what.qualifiers, attr::nspace)) {
    const auto rank = number<uint32_t>(what.qualifiers, attr::rank);
    result.sources.push_back(
      {std::move(*nspace), rank.value_or(rank_wildcard)});
  }
  return result;
}

} // namespace troupe
