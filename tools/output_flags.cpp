#include "tools/output_flags.hpp"

#include "messages/status.hpp"

namespace troupe {

caf::error add_flags(bool label, bool timestamp, bool json, output_options& x) {
  auto& f = x.format;
  const auto has_tag = f.rank || f.tag || f.tag_detailed || f.tag_fullname;
  if (json && (has_tag || f.xml || f.label || f.raw))
    return make_error(status::bad_param,
                      "--json says whose each line is; leave out the other "
                      "forms of --output");
  if (f.raw && !has_tag && !f.label && (label || timestamp))
    return make_error(status::bad_param,
                      "--output raw is the bytes as they come; leave out -l "
                      "and --timestamp, or write --output label:raw for marks "
                      "in front of what comes at once");
  f.label = f.label || label;
  f.timestamp = f.timestamp || timestamp;
  f.json = f.json || json;
  f.iso_time = timestamp;
  return caf::none;
}

} // namespace troupe
