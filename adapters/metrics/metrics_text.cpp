#include "adapters/metrics/metrics_text.hpp"

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>
#include <prometheus/text_serializer.h>

#include <sstream>
#include <string_view>

namespace troupe {

namespace {

/// What ends the name of a counter's samples. In OpenMetrics the family is called
/// without it.
constexpr auto total = std::string_view{"_total"};

prometheus::MetricType type_of(metric_kind x) {
  switch (x) {
    case metric_kind::counter:
      return prometheus::MetricType::Counter;
    case metric_kind::gauge:
      return prometheus::MetricType::Gauge;
    default:
      return prometheus::MetricType::Histogram;
  }
}

/// What is no text is no part of a name, and of no line.
std::string printable(std::string x) {
  for (auto& y : x)
    if (static_cast<unsigned char>(y) < ' ')
      y = '?';
  return x;
}

prometheus::ClientMetric convert(const metric_sample& x, metric_kind kind) {
  auto result = prometheus::ClientMetric{};
  for (const auto& [name, content] : x.labels) {
    auto& label = result.label.emplace_back();
    label.name = name;
    label.value = printable(content);
  }
  switch (kind) {
    case metric_kind::counter:
      result.counter.value = x.value;
      break;
    case metric_kind::gauge:
      result.gauge.value = x.value;
      break;
    default:
      result.histogram.sample_count = x.count;
      result.histogram.sample_sum = x.value;
      for (const auto& [bound, count] : x.buckets) {
        auto& bucket = result.histogram.bucket.emplace_back();
        bucket.upper_bound = bound;
        bucket.cumulative_count = count;
      }
  }
  return result;
}

std::string text_of(const metric_family& x) {
  auto family = prometheus::MetricFamily{};
  family.name = x.name;
  family.help = x.help;
  family.type = type_of(x.kind);
  for (const auto& sample : x.samples)
    family.metric.push_back(convert(sample, x.kind));
  auto out = std::ostringstream{};
  prometheus::TextSerializer{}.Serialize(out, {family});
  return out.str();
}

/// Calls the family of a counter what OpenMetrics calls it, in the lines that
/// are about the family. Source: OpenMetrics 1.0, "Counter".
std::string rename_counter(std::string text, const metric_family& x) {
  for (const auto line : {"# HELP ", "# TYPE "}) {
    const auto at = text.find(line + x.name + " ");
    if (at != std::string::npos)
      text.erase(at + std::string_view{line}.size() + x.name.size()
                   - total.size(),
                 total.size());
  }
  return text;
}

bool is_total(const metric_family& x) {
  return x.kind == metric_kind::counter && x.name.size() > total.size()
         && x.name.compare(x.name.size() - total.size(), total.size(), total)
              == 0;
}

} // namespace

std::string metrics_text(const std::vector<metric_family>& families,
                         bool is_open_metrics) {
  auto result = std::string{};
  for (const auto& x : families) {
    auto text = text_of(x);
    result += is_open_metrics && is_total(x)
                ? rename_counter(std::move(text), x)
                : text;
  }
  if (is_open_metrics)
    result += "# EOF\n";
  return result;
}

} // namespace troupe
