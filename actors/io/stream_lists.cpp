#include "actors/io/stream_lists.hpp"

#include "actors/io/io_report.hpp"
#include "base/all_of.hpp"
#include "base/make_info.hpp"
#include "messages/io_keys.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

namespace {

bool is_of_streams(const query& x) {
  return std::find(x.keys.begin(), x.keys.end(), io_streams_key)
         != x.keys.end();
}

/// Takes the queries for streams out of a request.
std::vector<query> take_queries(query_request& request) {
  auto result = std::vector<query>{};
  auto rest = std::vector<query>{};
  for (auto& x : request.queries) {
    if (is_of_streams(x)) {
      result.push_back({{std::string{io_streams_key}}, x.qualifiers});
      x.keys.erase(std::remove(x.keys.begin(), x.keys.end(), io_streams_key),
                   x.keys.end());
    }
    if (!x.keys.empty())
      rest.push_back(std::move(x));
  }
  request.queries = std::move(rest);
  return result;
}

} // namespace

bool asks_for_streams(const query_request& x) {
  return std::any_of(x.queries.begin(), x.queries.end(), is_of_streams);
}

void answer_with_streams(const requester& who, query_request request,
                         const stream_list_means& out,
                         completion<info_result> done) {
  const auto all = all_of<info_result>{
    {}, [done = std::move(done)](info_result& x) { done(std::move(x)); }};
  for (const auto& x : take_queries(request)) {
    all.add();
    out.list(streams_wanted(who, x), [all](caf::expected<io_list> found) {
      if (found)
        all->infos.push_back(make_info(io_streams_key, make_io_report(*found)));
      else
        all->complete = false;
      all.done();
    });
  }
  if (!request.queries.empty()) {
    all.add();
    out.ask_host(std::move(request), [all](caf::expected<info_result> found) {
      if (found)
        std::move(found->infos.begin(), found->infos.end(),
                  std::back_inserter(all->infos));
      all->complete &= found && found->complete;
      all.done();
    });
  }
  all.done();
}

} // namespace troupe
