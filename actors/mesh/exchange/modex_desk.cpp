#include "actors/mesh/exchange/modex_desk.hpp"

#include "actors/data/datastore.hpp"
#include "base/timeout.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <utility>

namespace troupe {

void modex_desk::get(direct_modex what, completion then) {
  const auto* number = find(what.directives, question_number);
  const auto k =
    key{what.target, text(what.directives, attr::required_key).value_or(""),
        number != nullptr ? number->number<uint64_t>().value_or(0) : 0};
  const auto nspace = what.target.nspace;
  const auto [i, is_new] = open_.try_emplace(k);
  i->second.waiting.push_back(std::move(then));
  if (!is_new)
    return;
  i->second.what = std::move(what);
  if (places_.knows(nspace)) {
    ask(k);
    return;
  }
  out_.locate(nspace, [this, k](const caf::error& why) {
    if (why)
      finish(k, make_error(status::not_found,
                           "no job " + std::get<proc_id>(k).nspace));
    else
      ask(k);
  });
}

void modex_desk::ask(const key& k) {
  auto& x = open_.at(k);
  const auto& target = std::get<proc_id>(k);
  if (target.rank == rank_wildcard) {
    if (x.nodes.empty())
      x.nodes = places_.nodes_of(target.nspace);
  } else if (const auto node = places_.node_of(target)) {
    x.nodes = {*node};
  }
  if (x.nodes.empty()) {
    finish(k, make_error(status::not_found,
                         to_string(target) + " is not known to this host"));
    return;
  }
  const auto node = x.nodes.front();
  const auto limit =
    timeout_of(x.what.directives).value_or(caf::timespan{defaults::modex_wait});
  out_.ask(node, x.what, limit + defaults::host_timeout_margin,
           [this, k](caf::expected<get_result> result) {
             const auto i = open_.find(k);
             if (i == open_.end())
               return;
             // Any node of a job knows the data of the job.
             auto& nodes = i->second.nodes;
             if (!result && status_of(result.error()) == status::unreach
                 && nodes.size() > 1) {
               nodes.erase(nodes.begin());
               ask(k);
               return;
             }
             finish(k, std::move(result));
           });
}

void modex_desk::finish(const key& k, caf::expected<get_result> result) {
  auto node = open_.extract(k);
  if (node.empty())
    return;
  for (const auto& then : node.mapped().waiting)
    then(result);
}

} // namespace troupe
