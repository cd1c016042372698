#include "actors/mesh/remoting/remote_requests.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

uint64_t number_of(caf::message_id x) {
  return x.request_id().integer_value();
}

} // namespace

void remote_requests::add(caf::actor_id id, const caf::strong_actor_ptr& who,
                          caf::message_id mid, uint32_t rank) {
  auto& x = askers_[id];
  if (!x.who)
    x.who = who;
  if (x.open.insert_or_assign(number_of(mid), entry{mid, rank, {}, losses_})
        .second)
    ++size_;
}

std::optional<remote_requests::request>
remote_requests::move(caf::actor_id who, caf::message_id mid, uint32_t from,
                      uint32_t to) {
  const auto i = askers_.find(who);
  if (i == askers_.end())
    return std::nullopt;
  const auto j = i->second.open.find(number_of(mid));
  if (j == i->second.open.end() || j->second.rank != from)
    return std::nullopt;
  auto& x = j->second;
  if (const auto lost = lost_.find(to);
      lost != lost_.end() && lost->second > x.after) {
    auto result = request{i->second.who, x.mid};
    end(who, mid);
    return result;
  }
  x.via.push_back(std::exchange(x.rank, to));
  return std::nullopt;
}

bool remote_requests::end(caf::actor_id who, caf::message_id mid) {
  const auto i = askers_.find(who);
  if (i == askers_.end() || i->second.open.erase(number_of(mid)) == 0)
    return false;
  --size_;
  if (i->second.open.empty())
    askers_.erase(i);
  return true;
}

void remote_requests::drop_actor(caf::actor_id who) {
  const auto i = askers_.find(who);
  if (i == askers_.end())
    return;
  size_ -= i->second.open.size();
  askers_.erase(i);
}

std::vector<remote_requests::request>
remote_requests::drop_node(uint32_t rank) {
  lost_[rank] = ++losses_;
  return drop_if([=](const entry& x) {
    return x.rank == rank
           || std::find(x.via.begin(), x.via.end(), rank) != x.via.end();
  });
}

std::vector<remote_requests::request> remote_requests::drop_way(uint32_t from,
                                                                uint32_t to) {
  return drop_if([=](const entry& x) {
    auto way = x.via;
    way.push_back(x.rank);
    for (size_t i = 0; i + 1 < way.size(); ++i)
      if (way[i] == from && way[i + 1] == to)
        return true;
    return false;
  });
}

template <class Predicate>
std::vector<remote_requests::request>
remote_requests::drop_if(Predicate is_lost) {
  auto result = std::vector<request>{};
  for (auto i = askers_.begin(); i != askers_.end();) {
    auto& open = i->second.open;
    for (auto j = open.begin(); j != open.end();) {
      if (is_lost(j->second)) {
        result.push_back({i->second.who, j->second.mid});
        j = open.erase(j);
      } else {
        ++j;
      }
    }
    i = open.empty() ? askers_.erase(i) : std::next(i);
  }
  size_ -= result.size();
  return result;
}

} // namespace troupe
