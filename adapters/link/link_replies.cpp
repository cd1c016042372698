#include "adapters/link/link_replies.hpp"

#include "actors/data/get_options.hpp"
#include "adapters/wire/compression.hpp"
#include "messages/denial.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

namespace {

constexpr auto packed_rank_key = std::string_view{"pmix.pblob"};

/// Unpacks what a reply has packed, and no more than its bounds.
class unpacker {
public:
  explicit unpacker(const wire::dialect& rules) : rules_(rules) {
    // nop
  }

  caf::error operator()(ack&) {
    return caf::none;
  }

  caf::error operator()(job_info& x) {
    if (auto err = expand_all(x.entries))
      return err;
    for (auto& y : x.ranks)
      if (auto err = expand_all(y.entries))
        return err;
    return caf::none;
  }

  caf::error operator()(spawn_result& x) {
    if (auto err = expand_all(x.entries))
      return err;
    for (auto& y : x.ranks)
      if (auto err = expand_all(y.entries))
        return err;
    return caf::none;
  }

  caf::error operator()(connect_procs_result& x) {
    for (auto& y : x.jobs)
      if (auto err = (*this)(y))
        return err;
    return caf::none;
  }

  /// Job data of another namespace come with the data of its ranks packed.
  caf::error operator()(get_result& x) {
    auto more = std::vector<proc_data>{};
    for (auto& block : x.blocks) {
      for (auto i = block.entries.begin(); i != block.entries.end();) {
        const auto* bytes = std::get_if<std::string>(&i->val.data);
        if (i->key != packed_rank_key || bytes == nullptr) {
          ++i;
          continue;
        }
        auto rank = wire::decode_rank_data(*bytes, rules_);
        if (!rank)
          return std::move(rank.error());
        more.push_back(
          {{block.proc.nspace, rank->rank}, std::move(rank->entries)});
        i = block.entries.erase(i);
      }
    }
    x.blocks.insert(x.blocks.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
    for (auto& block : x.blocks)
      if (auto err = expand_all(block.entries))
        return err;
    return caf::none;
  }

  caf::error operator()(refresh_cache_result& x) {
    return expand_all(x.entries);
  }

  caf::error operator()(lookup_result& x) {
    for (auto& y : x.found)
      if (auto err = expand(y.val))
        return err;
    return caf::none;
  }

  caf::error operator()(info_result& x) {
    for (auto& y : x.infos)
      if (auto err = expand(y.val))
        return err;
    return caf::none;
  }

  template <class T>
  caf::error operator()(T&) {
    return caf::none;
  }

private:
  caf::error expand_all(std::vector<key_value>& xs) {
    for (auto& x : xs)
      if (auto err = expand(x.val))
        return err;
    return caf::none;
  }

  caf::error expand(value& x) {
    const auto* bytes = std::get_if<std::string>(&x.data);
    if (x.type != data_type::compressed_string || bytes == nullptr)
      return caf::none;
    auto text = wire::inflate_text(*bytes);
    if (!text)
      return std::move(text.error());
    expanded_ += text->size();
    if (expanded_ > wire::max_inflated_size)
      return make_error(status::out_of_resource,
                        "the texts of a reply expand beyond 32 MiB");
    x = value::string(std::move(*text));
    return caf::none;
  }

  const wire::dialect& rules_;
  size_t expanded_ = 0;
};

/// Data of ranks that have been checked.
class ranks_of_reply : public packed_ranks {
public:
  ranks_of_reply(const std::vector<wire::packed_rank>& xs,
                 const wire::dialect& rules)
    : rules_(rules) {
    auto size = size_t{0};
    for (const auto& x : xs)
      size += x.bytes.size();
    bytes_.reserve(size);
    places_.reserve(xs.size());
    for (const auto& x : xs) {
      places_.push_back({x.rank, bytes_.size(), x.bytes.size()});
      bytes_ += x.bytes;
    }
    std::stable_sort(
      places_.begin(), places_.end(),
      [](const place& x, const place& y) { return x.rank < y.rank; });
  }

  std::vector<key_value> of(uint32_t rank) const override {
    auto result = std::vector<key_value>{};
    for (auto i = first_of(rank); i < places_.size() && places_[i].rank == rank;
         ++i) {
      const auto& x = places_[i];
      if (x.size == 0)
        continue;
      auto data = wire::decode_rank_data(
        std::string_view{bytes_}.substr(x.offset, x.size), rules_);
      if (data)
        std::move(data->entries.begin(), data->entries.end(),
                  std::back_inserter(result));
    }
    return result;
  }

  void drop(uint32_t rank) override {
    for (auto i = first_of(rank); i < places_.size() && places_[i].rank == rank;
         ++i)
      places_[i].size = 0;
  }

  std::vector<uint32_t> ranks() const override {
    auto result = std::vector<uint32_t>{};
    for (const auto& x : places_)
      if (x.size > 0 && (result.empty() || result.back() != x.rank))
        result.push_back(x.rank);
    return result;
  }

private:
  struct place {
    uint32_t rank = rank_undef;
    size_t offset = 0;

    /// 0: it has been dropped.
    size_t size = 0;
  };

  /// Where the first place of a rank is, or would be.
  size_t first_of(uint32_t rank) const {
    const auto i =
      std::lower_bound(places_.begin(), places_.end(), rank,
                       [](const place& x, uint32_t y) { return x.rank < y; });
    return static_cast<size_t>(i - places_.begin());
  }

  wire::dialect rules_;
  std::string bytes_;
  std::vector<place> places_; // by rank
};

/// Whether infos come with a refusal. Source: RFC0015.
bool tells_why(wire::command x) {
  return x == wire::command::job_control || x == wire::command::monitor;
}

} // namespace

caf::expected<wire::reply_body> read_reply(wire::command asked,
                                           std::string_view payload,
                                           const wire::dialect& rules) {
  if (payload.empty())
    return make_error(status::lost_connection, "the reply is empty");
  auto x = wire::decode_reply(asked, payload, rules);
  if (!x)
    return std::move(x.error());
  const auto is_fine = x->outcome == status::success
                       || x->outcome == status::operation_succeeded
                       || x->outcome == status::query_partial_success
                       || (x->outcome == status::partial_success
                           && asked == wire::command::group_construct);
  if (!is_fine && !tells_why(asked))
    return make_error(x->outcome);
  if (auto err = std::visit(unpacker{rules}, x->body))
    return err;
  if (is_fine)
    return std::move(x->body);
  auto* reasons = std::get_if<info_result>(&x->body);
  return make_error(x->outcome, {},
                    reasons != nullptr ? std::move(reasons->infos)
                                       : std::vector<info>{});
}

caf::expected<job_reply> read_job_reply(std::string_view payload,
                                        const wire::dialect& rules) {
  if (payload.empty())
    return make_error(status::lost_connection, "the reply is empty");
  auto packed = std::vector<wire::packed_rank>{};
  auto result = job_reply{};
  auto info = wire::decode_job_info(payload, rules, is_reserved_key, packed);
  if (!info)
    return std::move(info.error());
  if (auto err = unpacker{rules}(*info))
    return err;
  result.info = std::move(*info);
  if (!packed.empty())
    result.ranks = std::make_unique<ranks_of_reply>(packed, rules);
  return result;
}

bool is_unreadable(const caf::error& why) {
  const auto code = status_of(why);
  return code != status::lost_connection && reason_of(why) != to_string(code);
}

} // namespace troupe
