#pragma once

#include "messages/actors.hpp"

#include <caf/fwd.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// What the tests of `inspect` do with a message, whatever its type: so that
/// each type is compiled once and not once for each test.
class inspected {
public:
  virtual ~inspected() = default;

  /// Replaces it by a fresh one that is filled at random.
  virtual void fill(uint32_t seed) = 0;

  virtual caf::error save(caf::serializer& sink) = 0;

  virtual caf::error load(caf::deserializer& source) = 0;

  /// @pre `other` is of the same type.
  virtual bool equals(const inspected& other) const = 0;

  virtual std::string text() const = 0;
};

struct inspected_type {
  std::string name;

  /// Makes one without content.
  std::unique_ptr<inspected> (*make)();
};

/// Every message, and every structure inside one.
std::vector<inspected_type> inspected_types();

/// In how many files they are compiled: inspected_0.cpp and so on.
inline constexpr int inspected_parts = 7;

template <int Part>
void add_inspected(std::vector<inspected_type>& to);
