#include "adapters/local/unfinished_messages.hpp"

#include <utility>
#include <vector>

namespace troupe {

struct unfinished_messages::table {
  /// In the order in which they began to count.
  using queue = std::map<uint64_t, message*>;

  struct share {
    queue messages;
    size_t bytes = 0;
  };

  bounds limits;
  uint64_t last_order = 0;
  share all;
  std::map<std::string, share> by_nspace;

  static bool admits(const share& x, size_t most, uint64_t order) {
    return x.bytes < most || x.messages.begin()->first == order;
  }

  bool may_grow(const message& x) {
    return x.order_ == 0
           || (admits(by_nspace[x.nspace_], limits.per_namespace, x.order_)
               && admits(all, limits.per_node, x.order_));
  }

  void set(message& x, size_t bytes) {
    const auto is_counted = bytes > limits.ignored;
    if (is_counted && x.order_ == 0) {
      x.order_ = ++last_order;
      x.bytes_ = 0;
    }
    if (x.order_ == 0)
      return;
    const auto next = is_counted ? bytes : 0;
    const auto i = by_nspace.try_emplace(x.nspace_).first;
    for (auto* part : {&i->second, &all}) {
      part->bytes += next;
      part->bytes -= x.bytes_;
      if (is_counted)
        part->messages[x.order_] = &x;
      else
        part->messages.erase(x.order_);
    }
    const auto has_shrunk = next < x.bytes_;
    x.bytes_ = next;
    if (!is_counted)
      x.order_ = 0;
    if (i->second.messages.empty())
      by_nspace.erase(i);
    if (has_shrunk)
      wake();
  }

  void wake() {
    auto now = std::vector<message*>{};
    for (const auto& [order, x] : all.messages)
      if (x->is_waiting_ && may_grow(*x))
        now.push_back(x);
    for (auto* x : now) {
      x->is_waiting_ = false;
      x->go_on_();
    }
  }
};

// -- message -----------------------------------------------------------------

unfinished_messages::message::message(unfinished_messages& all,
                                      std::string nspace,
                                      std::function<void()> go_on)
  : table_(all.table_), nspace_(std::move(nspace)), go_on_(std::move(go_on)) {
  // nop
}

unfinished_messages::message::~message() {
  is_waiting_ = false;
  table_->set(*this, 0);
}

void unfinished_messages::message::note(size_t bytes) {
  table_->set(*this, bytes);
}

bool unfinished_messages::message::may_grow() {
  const auto result = table_->may_grow(*this);
  is_waiting_ = !result;
  return result;
}

// -- unfinished_messages -----------------------------------------------------

unfinished_messages::unfinished_messages(const bounds& limits)
  : table_(std::make_shared<table>()) {
  table_->limits = limits;
}

size_t unfinished_messages::bytes() const noexcept {
  return table_->all.bytes;
}

} // namespace troupe
