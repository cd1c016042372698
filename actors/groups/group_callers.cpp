#include "actors/groups/group_callers.hpp"

#include "messages/value.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

size_t content_of(const value& x) {
  if (const auto* text = std::get_if<std::string>(&x.data))
    return text->size();
  auto result = sizeof(value);
  if (const auto* array = x.array())
    for (const auto& element : array->elements)
      result += content_of(element);
  return result;
}

bool can_be_one(const group_caller& x, const group_caller& y) {
  return x.posted.empty() && y.posted.empty() && x.proc.nspace == y.proc.nspace
         && uint64_t{x.proc.rank} + x.count == y.proc.rank
         && x.directives == y.directives;
}

} // namespace

size_t count_of(const std::vector<group_caller>& callers) {
  auto result = size_t{0};
  for (const auto& x : callers)
    result += x.count;
  return result;
}

size_t bytes_of(const std::vector<group_caller>& callers) {
  auto result = size_t{0};
  for (const auto& x : callers) {
    for (const auto& y : x.directives)
      result += y.key.size() + content_of(y.val);
    for (const auto& y : x.posted)
      result += y.key.size() + content_of(y.val);
  }
  return result;
}

void put_together(std::vector<group_caller>& callers) {
  std::stable_sort(callers.begin(), callers.end(),
                   [](const group_caller& x, const group_caller& y) {
                     return x.proc < y.proc;
                   });
  auto end = callers.begin();
  for (auto i = callers.begin(); i != callers.end(); ++i) {
    if (end != callers.begin() && can_be_one(*std::prev(end), *i))
      std::prev(end)->count += i->count;
    else if (end == i)
      ++end;
    else
      *end++ = std::move(*i);
  }
  callers.erase(end, callers.end());
}

} // namespace troupe
