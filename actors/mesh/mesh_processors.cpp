#include "actors/jobs/placement.hpp"
#include "actors/mesh/mesh_host_state.hpp"

// What the nodes have, for mappings that depend on it: the root asks each, as a
// query that every node answers for itself.

namespace troupe::mesh_internals {

namespace {

constexpr std::string_view objects_key = "troupe.objects";

constexpr resource_kind kinds[] = {
  resource_kind::hwthread, resource_kind::core, resource_kind::l1,
  resource_kind::l2,       resource_kind::l3,   resource_kind::numa,
  resource_kind::package,
};

/// Counts that are on their way.
struct object_count {
  std::map<uint32_t, uint32_t> by_node;
  size_t missing = 1;
  std::function<void(const std::map<uint32_t, uint32_t>&)> then;

  void arrived() {
    if (--missing == 0)
      then(by_node);
  }
};

} // namespace

bool is_objects_question(const ask_root& what) {
  const auto* question = std::get_if<query_request>(&what.what);
  return question != nullptr && question->queries.size() == 1
         && question->queries.front().keys
              == std::vector<std::string>{std::string{objects_key}};
}

void count_objects_here(self_pointer self, completion<info_result> done) {
  self
    ->request(self->state.directory.topology, caf::infinite,
              discover_topology{})
    .then(
      [done](const node_topology& found) {
        auto result = info_result{};
        for (const auto kind : kinds)
          result.infos.push_back(
            {to_string(kind), 0, value::uint32(count_objects(found, kind))});
        done(std::move(result));
      },
      [done](caf::error& why) { done(std::move(why)); });
}

void count_objects_of_nodes(
  self_pointer self, resource_kind kind,
  std::function<void(const std::map<uint32_t, uint32_t>&)> then) {
  auto count = std::make_shared<object_count>();
  count->then = std::move(then);
  auto question = query_request{};
  question.queries.emplace_back().keys = {std::string{objects_key}};
  for (const auto& [rank, node] : self->state.nodes) {
    if (!node.takes_work())
      continue;
    ++count->missing;
    ask(self, rank, ask_root{{}, question},
        reply_to<info_result>(
          [count, kind, rank = rank](caf::expected<info_result> x) {
            const auto objects =
              x ? number<uint32_t>(x->infos, to_string(kind)) : std::nullopt;
            if (objects)
              count->by_node[rank] = *objects;
            count->arrived();
          }));
  }
  count->arrived();
}

} // namespace troupe::mesh_internals
