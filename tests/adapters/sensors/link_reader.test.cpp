// Links as the kernel tells of them.

#include "adapters/sensors/link_reader.hpp"

#include "adapters/sockets/netlink.hpp"
#include "tests/adapters/process/world.hpp"

#include <linux/rtnetlink.h>
#include <net/if.h>

#include <cstring>

using namespace troupe;

namespace {

template <class T>
std::string bytes(const T& x) {
  return {reinterpret_cast<const char*>(&x), sizeof(x)};
}

std::string padded(std::string x) {
  x.resize((x.size() + 3) / 4 * 4);
  return x;
}

std::string attribute(uint16_t kind, const std::string& value) {
  rtattr head{};
  head.rta_type = kind;
  head.rta_len = static_cast<uint16_t>(sizeof(head) + value.size());
  return padded(bytes(head) + value);
}

std::string message(uint16_t kind, uint32_t flags, const std::string& name,
                    int index = 7, uint8_t family = AF_UNSPEC) {
  ifinfomsg fixed{};
  fixed.ifi_family = family;
  fixed.ifi_index = index;
  fixed.ifi_flags = flags;
  auto content = bytes(fixed) + attribute(IFLA_MTU, "\x05\xdc\0\0")
                 + attribute(IFLA_IFNAME, name + '\0');
  nlmsghdr head{};
  head.nlmsg_type = kind;
  head.nlmsg_len = static_cast<uint32_t>(sizeof(head) + content.size());
  return padded(bytes(head) + content);
}

constexpr uint32_t running = IFF_UP | IFF_RUNNING;

} // namespace

CAF_TEST(E4 links are read in their order) {
  const auto found = link_changes_in(
    message(RTM_NEWLINK, running, "eth0") + message(RTM_NEWLINK, IFF_UP, "eth0")
    + message(RTM_DELADDR, running, "eth0")
    + message(RTM_DELLINK, running, "eth1", 8)
    + message(RTM_NEWLINK, running | IFF_LOOPBACK, "lo", 1));
  CAF_REQUIRE_EQUAL(found.size(), 4u);
  CAF_CHECK(found[0].name == "eth0" && found[0].is_running);
  CAF_CHECK(found[1].name == "eth0" && !found[1].is_running);
  CAF_CHECK(found[2].name == "eth1" && found[2].is_gone
            && !found[2].is_running);
  CAF_CHECK(found[3].is_loopback && found[3].index == 1);
}

CAF_TEST(E4 a port that leaves its bridge is not a link that is gone) {
  CAF_CHECK(link_changes_in(message(RTM_DELLINK, running, "eth0", 7, AF_BRIDGE))
              .empty());
}

CAF_TEST(E4 names of links are printed as they can be) {
  const auto found =
    link_changes_in(message(RTM_NEWLINK, running, "a\x1b b")
                    + message(RTM_NEWLINK, running, std::string(200, 'n'))
                    + message(RTM_NEWLINK, running, ""));
  CAF_REQUIRE_EQUAL(found.size(), 2u);
  CAF_CHECK_EQUAL(found[0].name, "a??b");
  CAF_CHECK_EQUAL(found[1].name.size(), size_t{IFNAMSIZ - 1});
}

CAF_TEST(E4 datagrams that are cut or lie about lengths end where they do) {
  const auto whole = message(RTM_NEWLINK, running, "eth0");
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto x = link_changes_in(std::string_view{whole}.substr(0, size));
    CAF_CHECK(x.empty());
  }
  for (const auto length : {0u, 1u, 15u, 0xffffffffu, 0x7fffffffu}) {
    auto odd = whole;
    std::memcpy(odd.data(), &length, sizeof(length));
    CAF_CHECK(link_changes_in(odd + whole).empty());
  }
  CAF_CHECK_EQUAL(link_changes_in(whole + whole).size(), 2u);
}

CAF_TEST(E4 the links of this node can be read and the loopback is not one) {
  fixtures::world world;
  auto uut = spawn_link_reader(world.sys.actors(), world.sys.loop(), {});
  CAF_REQUIRE(uut);
  const auto x = world.ask<sensor_readings>(*uut, read_sensors{true});
  CAF_REQUIRE(x.value);
  for (const auto& y : x.value->readings) {
    CAF_CHECK(y.of == sensor_quantity::link);
    CAF_CHECK(y.device != "lo");
    CAF_CHECK(y.value == 0 || y.value == 1);
  }
  // With nothing new to tell it owes an answer, until somebody asks again.
  const auto owed = world.request<sensor_readings>(*uut, read_sensors{false});
  const auto again = world.ask<sensor_readings>(*uut, read_sensors{true});
  CAF_REQUIRE(again.value && owed->value);
  CAF_CHECK(owed->value->readings.empty());
  CAF_CHECK(again.value->readings == x.value->readings);
  caf::anon_send_exit(*uut, caf::exit_reason::user_shutdown);
}

CAF_TEST(E4 a link is watched by its name) {
  fixtures::world world;
  auto uut = spawn_link_reader(world.sys.actors(), world.sys.loop(), {{"lo"}});
  CAF_REQUIRE(uut);
  const auto x = world.ask<sensor_readings>(*uut, read_sensors{true});
  CAF_REQUIRE(x.value);
  CAF_REQUIRE_EQUAL(x.value->readings.size(), 1u);
  CAF_CHECK_EQUAL(x.value->readings[0].device, "lo");
  CAF_CHECK_EQUAL(x.value->readings[0].value, 1);
  caf::anon_send_exit(*uut, caf::exit_reason::user_shutdown);
}
