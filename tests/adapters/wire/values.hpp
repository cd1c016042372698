#pragma once

// Random values of every type, for property tests.

#include "adapters/wire/dialect.hpp"
#include "adapters/wire/layout.hpp"
#include "messages/value.hpp"

#include <rapidcheck.h>

#include <string>
#include <vector>

namespace troupe::wire::test {

/// Draws random data; every draw comes from rapidcheck, which shrinks it.
class value_source {
public:
  /// @param with_topology Whether topologies have a text.
  explicit value_source(const dialect& d, bool with_topology = true)
    : rules_(d), with_topology_(with_topology) {
    // nop
  }

  /// A value of any type that the dialect has.
  value any(int depth = 0);

  /// A value of type `x`.
  value of(data_type x, int depth = 0);

  template <class T>
  T number() {
    return *rc::gen::arbitrary<T>();
  }

  /// A text without zero bytes.
  std::string text();
  std::optional<std::string> maybe_text();
  std::string bytes();
  proc_id proc();
  std::vector<proc_id> procs();
  std::vector<info> infos(int depth = 0);
  std::vector<key_value> entries();
  std::vector<std::string> texts();
  app any_app(int depth = 0);
  query any_query(int depth = 0);
  data_type any_type(int depth);

private:
  size_t up_to(size_t n);
  double decimal();
  value::storage integer(const layout& row);
  value::storage structure(data_type x, int depth);
  data_array array(int depth);

  dialect rules_;
  bool with_topology_;
};

} // namespace troupe::wire::test
