#include "base/trace_ring.hpp"

#include "base/escape.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace troupe {

namespace {

constexpr auto kinds = std::array<std::string_view, 5>{
  "fence", "connect", "disconnect", "event", "local_event"};

/// FNV-1a: the same on all nodes.
constexpr uint64_t hash_begin = 14695981039346656037u;
constexpr uint64_t hash_factor = 1099511628211u;

uint64_t hash_of(std::string_view text, uint64_t from = hash_begin) {
  for (const auto c : text)
    from = (from ^ static_cast<uint8_t>(c)) * hash_factor;
  return from;
}

/// The name of tools' namespaces in an order.
constexpr std::string_view no_nspace = "-";

/// Places for names at first; more come with them.
constexpr size_t first_names = 64;

std::string hex(uint64_t x, size_t digits) {
  auto result = std::string(digits, '0');
  for (auto i = digits; i-- > 0; x >>= 4)
    result[i] = "0123456789abcdef"[x & 15];
  return result;
}

constexpr size_t hex_digits = 8;

bool is_plain(const std::vector<proc_id>& procs) {
  return procs.size() == 1 && procs.front().rank == rank_wildcard;
}

/// Participants in order, each once, as a number.
uint64_t hash_of(const std::vector<proc_id>& procs) {
  auto result = hash_begin;
  const std::string* last = nullptr;
  for (const auto& x : procs) {
    if (last == nullptr || *last != x.nspace)
      result = hash_of(x.nspace, result);
    last = &x.nspace;
    result = (result ^ x.rank) * hash_factor;
  }
  return result ^ result >> 32;
}

bool is_in_order(const std::vector<proc_id>& procs) {
  return std::adjacent_find(
           procs.begin(), procs.end(),
           [](const proc_id& x, const proc_id& y) { return !(x < y); })
         == procs.end();
}

trace_kind kind_of(collective_kind x) {
  switch (x) {
    case collective_kind::connect:
      return trace_kind::connect;
    case collective_kind::disconnect:
      return trace_kind::disconnect;
    default:
      return trace_kind::fence;
  }
}

log_subject subject_of(trace_kind x) {
  return x < trace_kind::event ? log_subject::collectives : log_subject::events;
}

/// Stands for the events of the node's log in `delivered`, whatever they are.
trace_id handed(uint64_t number) {
  auto result = trace_id{};
  result.kind = trace_kind::local_event;
  result.number = number;
  return result;
}

std::string number_text(uint64_t x) {
  // Of an operation over a group: the group's own number is in the upper half.
  if (const auto salt = x >> 32; salt != 0)
    return hex(salt, hex_digits) + "." + std::to_string(x & UINT32_MAX);
  return std::to_string(x);
}

template <class T>
bool read_whole(std::string_view text, T& out, int base = 10) {
  const auto* end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, out, base);
  return !text.empty() && failure == std::errc{} && at == end;
}

bool read_number(std::string_view text, uint64_t& out) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos)
    return read_whole(text, out);
  auto salt = uint32_t{0};
  auto low = uint32_t{0};
  if (!read_whole(text.substr(0, dot), salt, 16)
      || !read_whole(text.substr(dot + 1), low))
    return false;
  out = uint64_t{salt} << 32 | low;
  return true;
}

} // namespace

// -- names -------------------------------------------------------------------

caf::expected<trace_id> read_trace_id(std::string_view text) {
  const auto bad = [&] {
    return make_error(
      status::bad_param,
      "\"" + escape_control_characters(text.substr(0, max_trace_id_length))
        + "\" names no operation or event, such as fence:JOB#3 or "
          "event:JOB#7@2; troupe trace without a name lists the latest");
  };
  const auto colon = text.find(':');
  const auto hash = text.rfind('#');
  if (text.size() > max_trace_id_length || colon == std::string_view::npos
      || hash == std::string_view::npos || hash < colon)
    return bad();
  const auto kind =
    std::find(kinds.begin(), kinds.end(), text.substr(0, colon));
  if (kind == kinds.end())
    return bad();
  auto result = trace_id{};
  result.kind = static_cast<trace_kind>(kind - kinds.begin());
  result.name = hash_of(text.substr(colon + 1, hash - colon - 1));
  const auto rest = text.substr(hash + 1);
  const auto at = rest.find('@');
  if (!read_number(rest.substr(0, at), result.number)
      || (at != std::string_view::npos
          && !read_whole(rest.substr(at + 1), result.node)))
    return bad();
  return result;
}

uint64_t trace_ring::remember(const std::string& name) {
  if (last_number_ != 0 && name == last_name_)
    return last_number_;
  const auto result = hash_of(name);
  if (!knows(result))
    keep(result, name);
  last_name_ = name;
  last_number_ = result;
  return result;
}

uint64_t trace_ring::remember(const std::vector<proc_id>& procs) {
  if (is_plain(procs))
    return remember(procs.front().nspace);
  if (procs.empty())
    return remember(std::string{no_nspace});
  if (!is_in_order(procs)) {
    auto copy = procs;
    std::sort(copy.begin(), copy.end());
    copy.erase(std::unique(copy.begin(), copy.end()), copy.end());
    return remember(copy);
  }
  // What is known costs no text of its own.
  const auto& nspace = procs.front().nspace;
  const auto rest = "/" + hex(hash_of(procs), hex_digits);
  const auto result = hash_of(rest, hash_of(nspace));
  if (!knows(result))
    keep(result, nspace + rest);
  return result;
}

size_t trace_ring::place_of(uint64_t number) const {
  // There is always a free one: at most half of them are taken.
  auto result = number % names_.size();
  while (names_[result].number != 0 && names_[result].number != number)
    result = (result + 1) % names_.size();
  return result;
}

bool trace_ring::has_room(size_t letters) const {
  return known_ < defaults::trace_names
         && letters_.size() + letters <= defaults::trace_letters;
}

/// Keeps a name, if there is room.
void trace_ring::keep(uint64_t number, std::string_view name) {
  if (!has_room(name.size()) && until_forgetting_ == 0)
    forget_names();
  if (!has_room(name.size()))
    return;
  if (2 * (known_ + 1) > names_.size())
    enlarge_names();
  names_[place_of(number)] = {number, static_cast<uint32_t>(letters_.size()),
                              static_cast<uint32_t>(name.size())};
  letters_ += name;
  ++known_;
}

void trace_ring::enlarge_names() {
  const auto names =
    std::exchange(names_, std::vector<name_place>(2 * names_.size()));
  for (const auto& x : names)
    if (x.number != 0)
      names_[place_of(x.number)] = x;
}

/// Forgets the names that no step has any more.
void trace_ring::forget_names() {
  until_forgetting_ = size_;
  auto used = std::set<uint64_t>{};
  for (const auto* x : {&collectives_, &events_})
    for (const auto& y : x->records) {
      used.insert(y.id.name);
      used.insert(y.nspace);
    }
  const auto names =
    std::exchange(names_, std::vector<name_place>(names_.size()));
  const auto letters = std::exchange(letters_, {});
  letters_.reserve(defaults::trace_letters);
  known_ = 0;
  for (const auto& x : names)
    if (x.number != 0 && used.count(x.number) > 0)
      keep(x.number, std::string_view{letters}.substr(x.begin, x.size));
}

std::string trace_ring::name_of(uint64_t number) const {
  const auto& x = names_[place_of(number)];
  return number != 0 && x.number == number ? letters_.substr(x.begin, x.size)
                                           : "?" + hex(number, 2 * hex_digits);
}

trace_id trace_ring::collective(collective_kind kind,
                                const std::vector<proc_id>& procs,
                                uint64_t generation) {
  auto result = trace_id{};
  result.kind = kind_of(kind);
  result.name = remember(procs);
  result.number = generation;
  return result;
}

trace_id trace_ring::local_collective(collective_kind kind,
                                      const std::vector<proc_id>& procs,
                                      uint64_t number) {
  auto result = collective(kind, procs, number);
  result.node = node_;
  return result;
}

trace_id trace_ring::event(const std::string& nspace, uint64_t number,
                           uint32_t node) {
  auto result = trace_id{};
  result.kind = trace_kind::event;
  result.node = node;
  result.name =
    nspace.empty() ? remember(std::string{no_nspace}) : remember(nspace);
  result.number = number;
  return result;
}

trace_id trace_ring::local_event(const std::string& nspace, uint64_t number) {
  auto result = event(nspace, number, node_);
  result.kind = trace_kind::local_event;
  return result;
}

std::string trace_ring::text_of(const trace_id& x) const {
  auto result = std::string{kinds[static_cast<size_t>(x.kind)]} + ":"
                + name_of(x.name) + "#" + number_text(x.number);
  if (x.node != trace_id::all_nodes)
    result += "@" + std::to_string(x.node);
  return result;
}

// -- steps -------------------------------------------------------------------

trace_ring::trace_ring(clock now, uint32_t node, size_t size)
  : now_(now), node_(node), size_(std::max<size_t>(size, 1)),
    names_(first_names) {
  // Memory that nobody has written yet takes none.
  collectives_.records.reserve(size_);
  events_.records.reserve(size_);
  letters_.reserve(defaults::trace_letters);
}

void trace_ring::echo_to(const journal& log) {
  if (const auto* known = log.target<subject_journal>()) {
    levels_ = known->levels;
    out_ = known->out;
  }
}

void trace_ring::add(const trace_record& x) {
  auto& to = x.id.kind < trace_kind::event ? collectives_ : events_;
  if (to.records.size() < size_) {
    to.records.push_back(x);
  } else {
    to.records[to.next] = x;
    to.next = (to.next + 1) % size_;
  }
  if (until_forgetting_ > 0)
    --until_forgetting_;
  const auto subject = subject_of(x.id.kind);
  if (levels_ == nullptr || !levels_->wants(subject, severity::debug))
    return;
  const auto id =
    x.step == trace_step::delivered ? std::string{} : text_of(x.id);
  (*out_)({severity::debug, subject, text_of(x), id});
}

void trace_ring::note(const trace_id& of, trace_step what, uint64_t detail,
                      status code) {
  auto x = trace_record{};
  x.at = now_();
  x.id = of;
  x.step = what;
  x.code = code;
  x.detail = detail;
  add(x);
}

void trace_ring::note_node(const trace_id& of, trace_step what, uint32_t node,
                           status code) {
  auto x = trace_record{};
  x.at = now_();
  x.id = of;
  x.step = what;
  x.code = code;
  x.rank = node;
  add(x);
}

void trace_ring::note_proc(const trace_id& of, trace_step what,
                           const proc_id& who, uint64_t detail) {
  auto x = trace_record{};
  x.at = now_();
  x.id = of;
  x.step = what;
  x.detail = detail;
  add_proc(x, who);
}

void trace_ring::note_delivery(uint64_t number, const proc_id& who) {
  auto x = trace_record{};
  x.at = now_();
  x.id = handed(number);
  x.step = trace_step::delivered;
  x.detail = number;
  add_proc(x, who);
}

void trace_ring::add_proc(trace_record x, const proc_id& who) {
  x.nspace = who.nspace.empty() ? 0 : remember(who.nspace);
  x.rank = who.rank;
  add(x);
}

// -- questions ---------------------------------------------------------------

std::vector<trace_record> trace_ring::steps_of(const trace_id& x) const {
  auto result = std::vector<trace_record>{};
  auto numbers = std::set<uint64_t>{};
  ring_of(x.kind).each([&](const trace_record& y) {
    if (y.id == x && y.step != trace_step::delivered) {
      if (y.step == trace_step::logged)
        numbers.insert(y.detail);
      result.push_back(y);
    } else if (y.step == trace_step::delivered && numbers.count(y.detail) > 0) {
      result.push_back(y);
    }
  });
  return result;
}

std::vector<std::vector<trace_record>> trace_ring::latest(size_t most) const {
  auto result = std::vector<std::vector<trace_record>>{};
  // Where an operation or event is in the result, and those of the log.
  using key = std::tuple<trace_kind, uint32_t, uint64_t, uint64_t>;
  auto places = std::map<key, size_t>{};
  auto logged = std::map<uint64_t, size_t>{};
  const auto add = [&](const trace_record& x) {
    if (x.step == trace_step::delivered) {
      if (const auto i = logged.find(x.detail); i != logged.end())
        result[i->second].push_back(x);
      return;
    }
    const auto [i, is_new] = places.emplace(
      key{x.id.kind, x.id.node, x.id.name, x.id.number}, result.size());
    if (is_new)
      result.emplace_back();
    if (x.step == trace_step::logged)
      logged[x.detail] = i->second;
    result[i->second].push_back(x);
  };
  collectives_.each(add);
  events_.each(add);
  std::sort(result.begin(), result.end(), [](const auto& x, const auto& y) {
    return x.back().at > y.back().at;
  });
  if (result.size() > most)
    result.resize(most);
  return result;
}

std::string_view text_of(trace_step x) {
  switch (x) {
    case trace_step::called:
      return "called";
    case trace_step::gathered:
      return "gathered";
    case trace_step::part_sent:
      return "part_sent";
    case trace_step::part_received:
      return "part_received";
    case trace_step::question_sent:
      return "question_sent";
    case trace_step::question_received:
      return "question_received";
    case trace_step::outcome_sent:
      return "outcome_sent";
    case trace_step::outcome_received:
      return "outcome_received";
    case trace_step::answered:
      return "answered";
    case trace_step::raised:
      return "raised";
    case trace_step::submitted:
      return "submitted";
    case trace_step::submission_received:
      return "submission_received";
    case trace_step::placed:
      return "placed";
    case trace_step::logged:
      return "logged";
    case trace_step::delivered:
      return "delivered";
    default:
      return "stable";
  }
}

bool has_node(trace_step x) {
  switch (x) {
    case trace_step::part_sent:
    case trace_step::part_received:
    case trace_step::question_sent:
    case trace_step::question_received:
    case trace_step::outcome_sent:
    case trace_step::outcome_received:
    case trace_step::submitted:
    case trace_step::submission_received:
      return true;
    default:
      return false;
  }
}

std::string trace_ring::proc_of(const trace_record& x) const {
  return x.nspace != 0 ? to_string(proc_id{name_of(x.nspace), x.rank})
                       : std::string{};
}

std::string trace_ring::text_of(const trace_record& x) const {
  const auto node = [&] { return "node " + std::to_string(x.rank); };
  const auto proc = [&] {
    return x.nspace != 0 ? proc_of(x) : std::string{"the system"};
  };
  const auto detail = [&] { return std::to_string(x.detail); };
  const auto outcome = [&] {
    return x.code == status::success ? std::string{"success"}
                                     : to_string(x.code);
  };
  switch (x.step) {
    case trace_step::called:
      return proc() + " has called it";
    case trace_step::gathered:
      return "all of this node have: " + detail();
    case trace_step::part_sent:
      return "sent to " + node();
    case trace_step::part_received:
      return "received from " + node();
    case trace_step::question_sent:
      return node() + " is asked what it knows";
    case trace_step::question_received:
      return node() + " asks what is known";
    case trace_step::outcome_sent:
      return "told " + node() + ": " + outcome();
    case trace_step::outcome_received:
      return "heard from " + node() + ": " + outcome();
    case trace_step::answered:
      return "calls answered: " + detail() + ", " + outcome();
    case trace_step::raised:
      return proc() + " has raised it";
    case trace_step::submitted:
      return "sent to " + node() + " for its place";
    case trace_step::submission_received:
      return "received from " + node() + " for its place";
    case trace_step::placed:
      return "here, with place " + detail();
    case trace_step::logged:
      return "in the log of this node as " + detail();
    case trace_step::delivered:
      return "handed to " + proc() + " (" + detail() + " of the log)";
    default:
      return "all nodes have it: " + outcome();
  }
}

} // namespace troupe
