// What our programs have CAF write, with what they link in place of all that it could
// write (tools/uncarried.cpp): a line for each message that does not survive.

#define TROUPE_CARRIED_ALONE
#define TROUPE_PART -1
#include "tests/messages/inspected_part.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

#include <iostream>

namespace {

/// A message after its way; nothing if it had none, or has left something over.
std::unique_ptr<inspected> carried(caf::actor_system& sys,
                                   const inspected_type& type, inspected& x) {
  auto bytes = std::vector<char>{};
  caf::binary_serializer sink{sys, bytes};
  if (x.save(sink))
    return nullptr;
  auto result = type.make();
  caf::binary_deserializer source{sys, bytes};
  if (result->load(source) || source.remaining() != 0)
    return nullptr;
  return result;
}

} // namespace

int main() {
  caf::actor_system_config config;
  caf::actor_system sys{config};
  auto types = std::vector<inspected_type>{};
  add_inspected<TROUPE_PART>(types);
  for (const auto& type : types)
    for (uint32_t seed = 0; seed < 40; ++seed) {
      const auto before = type.make();
      before->fill(seed);
      const auto after = carried(sys, type, *before);
      if (after == nullptr || !before->equals(*after))
        std::cout << type.name << " with seed " << seed << '\n';
    }
  // Else the program has the others' functions, and this is no test.
  const auto other =
    inspected_type{"heartbeat", []() -> std::unique_ptr<inspected> {
                     return std::make_unique<inspected_message<heartbeat>>();
                   }};
  if (carried(sys, other, *other.make()) != nullptr)
    std::cout << "heartbeat is carried, too\n";
  std::cout << types.size() << " types\n";
}
