#include "actors/groups/group_places.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace troupe {

namespace {

/// Answers that are put together; the last one ends the question.
template <class T>
struct survey {
  std::set<T> found;
  size_t missing = 1;
  std::function<void(const std::set<T>&)> done;

  void arrived() {
    if (--missing == 0)
      done(found);
  }
};

template <class T>
std::shared_ptr<survey<T>>
make_survey(std::function<void(const std::set<T>&)> done) {
  auto result = std::make_shared<survey<T>>();
  result->done = std::move(done);
  return result;
}

std::set<std::string> parts_of(const std::string& list) {
  auto result = std::set<std::string>{};
  for (size_t begin = 0; begin < list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    if (end > begin)
      result.insert(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

} // namespace

std::vector<std::string> group_places::namespaces() const {
  auto result = std::set<std::string>{};
  for (const auto& x : members_)
    result.insert(x.nspace);
  return {result.begin(), result.end()};
}

void group_places::find_peers(const std::optional<std::string>& node,
                              std::function<void(peers)> done) {
  auto all =
    make_survey<proc_id>([me = shared_from_this(), done = std::move(done)](
                           const std::set<proc_id>& found) {
      auto result = peers{};
      for (const auto& x : me->members_)
        if (found.count(x) > 0)
          result.push_back(x);
      done(std::move(result));
    });
  for (auto& nspace : namespaces()) {
    ++all->missing;
    ask_.peers_on({node, std::move(nspace)}, [all](const peers& found) {
      all->found.insert(found.begin(), found.end());
      all->arrived();
    });
  }
  all->arrived();
}

void group_places::find_nodes(std::function<void(std::string)> done) {
  // Whoever has processes of the namespaces may have a member.
  auto found = make_survey<std::string>(
    [done = std::move(done)](const std::set<std::string>& nodes) {
      auto result = std::string{};
      for (const auto& x : nodes)
        result += (result.empty() ? "" : ",") + x;
      done(std::move(result));
    });
  auto candidates = make_survey<std::string>(
    [me = shared_from_this(), found](const std::set<std::string>& nodes) {
      for (const auto& node : nodes) {
        ++found->missing;
        me->find_peers(node, [found, node](const peers& members) {
          if (!members.empty())
            found->found.insert(node);
          found->arrived();
        });
      }
      found->arrived();
    });
  for (auto& nspace : namespaces()) {
    ++candidates->missing;
    ask_.nodes_of({std::move(nspace)}, [candidates](const std::string& list) {
      candidates->found.merge(parts_of(list));
      candidates->arrived();
    });
  }
  candidates->arrived();
}

} // namespace troupe
