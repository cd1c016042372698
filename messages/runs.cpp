#include "messages/runs.hpp"

#include "messages/bounded_codec.hpp"
#include "messages/mesh.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace troupe {

// What is read is put into runs again and has to come to the same: there is one
// way to write a list. That ends as soon as there are more runs than were read,
// so that it takes no memory that the bytes do not justify.

namespace {

// -- processes ----------------------------------------------------------------

struct proc_run {
  proc_id first;
  uint32_t count = 1;
};

TROUPE_MESSAGE(proc_run, x.first, x.count)

/// Any number of runs.
constexpr auto no_limit = std::numeric_limits<size_t>::max();

/// Ends with the run after the first `limit`.
std::vector<proc_run> to_runs(const std::vector<proc_id>& procs,
                              size_t limit = no_limit) {
  auto result = std::vector<proc_run>{};
  for (const auto& x : procs) {
    if (result.size() > limit)
      break;
    if (!result.empty() && x.rank <= rank_valid_max
        && uint64_t{result.back().first.rank} + result.back().count == x.rank
        && result.back().first.nspace == x.nspace)
      ++result.back().count;
    else
      result.push_back({x, 1});
  }
  return result;
}

caf::error take_memory(codec_reader& f, const proc_run& x) {
  const auto size = x.first.nspace.size();
  const auto heap = size > std::string{}.capacity() ? size + 1 : 0;
  return f.take_memory(x.count, sizeof(proc_id) + heap);
}

void append(std::vector<proc_id>& to, const proc_run& x) {
  for (uint32_t i = 0; i < x.count; ++i)
    to.push_back({x.first.nspace, x.first.rank + i});
}

// -- the processes of a job ---------------------------------------------------

/// Processes of a node: each rank is that before it and `stride`. One whose
/// processors are known stands alone.
struct rank_row {
  uint32_t first = 0;
  uint32_t stride = 0;
  uint32_t count = 1;
  uint32_t app = 0;
  std::vector<uint32_t> cpus;
};

TROUPE_MESSAGE(rank_row, x.first, x.stride, x.count, x.app, x.cpus)

/// Nodes in a row. The name of the first is `before`, a number of at least
/// `digits` digits, `behind`; without digits, only `before`. Each other one has
/// the next number, and its ranks are those of the node before it and `step`.
struct share_run {
  uint32_t node = 0;
  uint32_t count = 1;
  std::string before;
  uint32_t number = 0;
  uint32_t digits = 0;
  std::string behind;
  uint32_t step = 0;
  std::vector<rank_row> rows;
};

TROUPE_MESSAGE(share_run, x.node, x.count, x.before, x.number, x.digits,
               x.behind, x.step, x.rows)

/// More digits of a name do not count.
constexpr size_t most_digits = 8;

bool is_digit(char x) {
  return x >= '0' && x <= '9';
}

/// Takes a name apart at its last number.
void set_name(share_run& x, const std::string& name) {
  auto end = name.size();
  while (end > 0 && !is_digit(name[end - 1]))
    --end;
  auto begin = end;
  while (begin > 0 && end - begin < most_digits && is_digit(name[begin - 1]))
    --begin;
  if (begin == end) {
    x.before = name;
    return;
  }
  x.before = name.substr(0, begin);
  x.behind = name.substr(end);
  x.digits = static_cast<uint32_t>(end - begin);
  for (auto i = begin; i < end; ++i)
    x.number = 10 * x.number + static_cast<uint32_t>(name[i] - '0');
}

std::string name_of(const share_run& x, uint32_t place) {
  if (x.digits == 0)
    return x.before;
  auto number = std::to_string(uint64_t{x.number} + place);
  if (number.size() < x.digits)
    number.insert(0, x.digits - number.size(), '0');
  return x.before + number + x.behind;
}

std::vector<rank_row> to_rows(const std::vector<placed_proc>& procs) {
  auto result = std::vector<rank_row>{};
  auto last = uint32_t{0};
  for (const auto& x : procs) {
    auto* row = result.empty() ? nullptr : &result.back();
    const auto stride = x.rank - last;
    last = x.rank;
    if (row != nullptr && row->app == x.app && row->cpus.empty()
        && x.cpus.empty() && (row->count == 1 || row->stride == stride)) {
      row->stride = stride;
      ++row->count;
    } else {
      result.push_back({x.rank, 0, 1, x.app, x.cpus});
    }
  }
  return result;
}

/// Whether rows are others with so much more in each rank; nothing: they are
/// not alike.
std::optional<uint32_t> step_between(const std::vector<rank_row>& xs,
                                     const std::vector<rank_row>& ys) {
  if (xs.size() != ys.size())
    return std::nullopt;
  const auto step = xs.empty() ? 0 : ys.front().first - xs.front().first;
  for (size_t i = 0; i < xs.size(); ++i)
    if (ys[i].first - xs[i].first != step || xs[i].stride != ys[i].stride
        || xs[i].count != ys[i].count || xs[i].app != ys[i].app
        || xs[i].cpus != ys[i].cpus)
      return std::nullopt;
  return step;
}

/// Ends with the run after the first `limit`.
std::vector<share_run> to_runs(const std::vector<node_share>& shares,
                               size_t limit = no_limit) {
  auto result = std::vector<share_run>{};
  auto before = std::vector<rank_row>{};
  for (const auto& x : shares) {
    if (result.size() > limit)
      break;
    auto rows = to_rows(x.procs);
    if (!result.empty()) {
      auto& run = result.back();
      const auto step = step_between(before, rows);
      if (step && run.digits > 0 && uint64_t{run.node} + run.count == x.node
          && (run.count == 1 || run.step == *step)
          && name_of(run, run.count) == x.hostname) {
        run.step = *step;
        ++run.count;
        before = std::move(rows);
        continue;
      }
    }
    auto& run = result.emplace_back();
    run.node = x.node;
    set_name(run, x.hostname);
    run.rows = rows;
    before = std::move(rows);
  }
  return result;
}

/// Takes what the elements of a run need at most, if it can be one.
caf::error take_memory(codec_reader& f, const share_run& x) {
  if (x.digits > most_digits)
    return codec_reader::refuse("a name of too many digits");
  const auto name = x.before.size() + most_digits + 2 + x.behind.size();
  if (auto err = f.take_memory(x.count, sizeof(node_share) + name))
    return err;
  for (const auto& row : x.rows) {
    if (row.count == 0)
      return codec_reader::refuse("no ranks in a row");
    if (row.count > 1 && !row.cpus.empty())
      return codec_reader::refuse("ranks with processors in one row");
    const auto each = sizeof(placed_proc) + row.cpus.size() * sizeof(uint32_t);
    // A row of a node may be as long as there are ranks.
    if (auto err = f.take_memory(row.count, each * x.count))
      return err;
  }
  return caf::none;
}

void append(std::vector<node_share>& to, const share_run& x) {
  for (uint32_t i = 0; i < x.count; ++i) {
    auto& share = to.emplace_back();
    share.node = x.node + i;
    share.hostname = name_of(x, i);
    for (const auto& row : x.rows)
      for (uint32_t k = 0; k < row.count; ++k)
        share.procs.push_back(
          {row.first + i * x.step + k * row.stride, row.app, row.cpus});
  }
}

// -- both ---------------------------------------------------------------------

template <class T>
caf::error read_runs(codec_reader& f, std::vector<T>& to) {
  auto runs = decltype(to_runs(to)){};
  if (auto err = f.read(runs))
    return err;
  to.clear();
  for (const auto& x : runs) {
    if (auto err = take_memory(f, x))
      return err;
    append(to, x);
  }
  if (to_runs(to, runs.size()) != runs)
    return codec_reader::refuse("a list that is not written as it would be");
  return caf::none;
}

} // namespace

caf::error inspect(codec_writer& f, proc_runs& x) {
  f.write(to_runs(x.procs));
  return caf::none;
}

caf::error inspect(codec_reader& f, proc_runs& x) {
  return read_runs(f, x.procs);
}

caf::error inspect(codec_writer& f, share_runs& x) {
  f.write(to_runs(x.shares));
  return caf::none;
}

caf::error inspect(codec_reader& f, share_runs& x) {
  return read_runs(f, x.shares);
}

} // namespace troupe
