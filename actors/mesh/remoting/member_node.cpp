#include "actors/mesh/remoting/member_node.hpp"

#include "actors/mesh/remoting/content_writer.hpp"

#include <caf/actor_system.hpp>
#include <caf/deserializer.hpp>
#include <caf/proxy_registry.hpp>
#include <caf/serializer.hpp>

#include <tuple>

namespace troupe {

namespace {

/// A member, as `caf::node_id` keeps it. Handles are written by a
/// `content_writer`, and never read as this: see `content_reader`.
class member_data final : public caf::node_id::data {
public:
  explicit member_data(const member_name& x) : name(x) {
    // nop
  }

  bool valid() const noexcept override {
    return true;
  }

  size_t hash_code() const noexcept override {
    return std::hash<uint64_t>{}(name.incarnation) * 31 + name.rank;
  }

  caf::atom_value implementation_id() const noexcept override {
    return member_atom;
  }

  int compare(const data& other) const noexcept override {
    const auto* x = dynamic_cast<const member_data*>(&other);
    if (x == nullptr)
      return 1;
    const auto l = std::tie(name.rank, name.incarnation);
    const auto r = std::tie(x->name.rank, x->name.incarnation);
    return l == r ? 0 : (l < r ? -1 : 1);
  }

  void print(std::string& out) const override {
    out += "node " + std::to_string(name.rank) + " ("
           + std::to_string(name.incarnation) + ')';
  }

  caf::error serialize(caf::serializer& sink) const override {
    if (auto* out = dynamic_cast<content_writer*>(&sink))
      return out->put_node(name);
    return caf::sec::invalid_argument;
  }

  caf::error deserialize(caf::deserializer&) override {
    return caf::sec::invalid_argument;
  }

  const member_name name;
};

// Private members may be named in explicit instantiations.
template <class Tag, typename Tag::type Member>
struct opened {
  friend typename Tag::type open(Tag) {
    return Member;
  }
};

struct node_of_system {
  using type = caf::node_id caf::actor_system::*;
  friend type open(node_of_system);
};

template struct opened<node_of_system, &caf::actor_system::node_>;

struct proxies_of_registry {
  using type = std::unordered_map<caf::node_id, caf::proxy_registry::proxy_map>
    caf::proxy_registry::*;
  friend type open(proxies_of_registry);
};

template struct opened<proxies_of_registry, &caf::proxy_registry::proxies_>;

} // namespace

caf::node_id make_member_node(const member_name& x) {
  return caf::node_id{caf::make_counted<member_data>(x)};
}

std::optional<member_name> member_of(const caf::node_id& x) {
  if (!x)
    return std::nullopt;
  const auto* data = dynamic_cast<const member_data*>(x.operator->());
  if (data == nullptr)
    return std::nullopt;
  return data->name;
}

void name_system(caf::actor_system& sys, const member_name& x) {
  sys.*open(node_of_system{}) = make_member_node(x);
}

void forget_proxies(caf::proxy_registry& x) {
  (x.*open(proxies_of_registry{})).clear();
}

} // namespace troupe
