#include "adapters/process/usage.hpp"
#include "tests/test.hpp"

#include <rapidcheck.h>

#include <limits>
#include <string>

using namespace troupe;

namespace {

constexpr auto stat_text =
  "4711 (a) b (c) R 1 4711 4711 0 -1 4194304 1 2 3 4 250 50 7 8 20 0 3 0 "
  "123456 8192000 500 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 5 0 0 0 "
  "0 0\n";

constexpr auto meminfo_text = "MemTotal:       2097152 kB\n"
                              "MemFree:        1048576 kB\n"
                              "MemAvailable:   1548576 kB\n"
                              "Buffers:           1024 kB\n"
                              "Cached:            2048 kB\n"
                              "SwapCached:         512 kB\n"
                              "SwapTotal:         4096 kB\n"
                              "SwapFree:          3072 kB\n"
                              "Mapped:             256 kB\n"
                              "HugePages_Total:       0\n";

constexpr auto disks_text =
  "   7       0 loop0 1 2 3 4 5 6 7 8 9 10 11 0 0 0 0\n"
  " 259       0 nvme0n1 10 20 30 40 50 60 70 80 1 90 100 0 0 0 0 0 0\n"
  " 259       1 nvme0n1p1 1 1 1 1 1 1 1 1 1 1 1\n"
  " 253       0 dm-0 1 2 3 4 5 6 7 8 9 10 11\n"
  "   8       0 sda 1 2 3\n";

constexpr auto nets_text =
  "Inter-|   Receive                        |  Transmit\n"
  " face |bytes    packets errs drop fifo frame compressed multicast|bytes\n"
  "    lo: 100 1 0 0 0 0 0 0 100 1 0 0 0 0 0 0\n"
  "  eth0:4000 40 4 0 0 0 0 0 5000 50 5 0 0 0 0 0\n"
  "eth0:1: 7 7 7 0 0 0 0 0 8 8 8 0 0 0 0 0\n"
  "  bad0: 1 2 x\n";

/// A text with one byte changed, or cut off.
std::string damaged(const std::string& text) {
  auto result = text;
  const auto at = *rc::gen::inRange<size_t>(0, text.size());
  if (*rc::gen::arbitrary<bool>())
    result.resize(at);
  else
    result[at] = *rc::gen::arbitrary<char>();
  return result;
}

} // namespace

CAF_TEST(M27 the state of a process is read whatever it calls itself) {
  const auto x = parse_process_stat(stat_text);
  CAF_REQUIRE(x);
  CAF_CHECK_EQUAL(x->name, "a) b (c");
  CAF_CHECK_EQUAL(x->state, 'R');
  CAF_CHECK_EQUAL(x->cpu_ticks, 300u);
  CAF_CHECK_EQUAL(x->priority, 20);
  CAF_CHECK_EQUAL(x->threads, 3u);
  CAF_CHECK_EQUAL(x->start_ticks, 123456u);
  CAF_CHECK_EQUAL(x->processor, 5u);
  CAF_CHECK(!parse_process_stat(""));
  CAF_CHECK(!parse_process_stat(")("));
  CAF_CHECK(!parse_process_stat("1 (x) R 1 2 3"));
}

CAF_TEST(M27 memory is read in bytes) {
  CAF_CHECK(bytes_named(meminfo_text, "MemFree") == uint64_t{1} << 30);
  CAF_CHECK(bytes_named(meminfo_text, "Cached") == uint64_t{2} << 20);
  CAF_CHECK(!bytes_named(meminfo_text, "Mem"));
  CAF_CHECK(!bytes_named(meminfo_text, "HugePages_Total"));
  CAF_CHECK(!bytes_named("X: 18446744073709551615 kB", "X"));
  CAF_CHECK(!bytes_named("X: -1 kB", "X"));
}

CAF_TEST(M27 load and memory of a node are read in megabytes) {
  auto node = node_stats{};
  CAF_CHECK(parse_load("0.25 1.50 12.00 1/234 567\n", node));
  CAF_CHECK_EQUAL(node.load_average, 0.25);
  CAF_CHECK_EQUAL(node.load_average_5, 1.5);
  CAF_CHECK_EQUAL(node.load_average_15, 12.0);
  CAF_CHECK(!parse_load("nan 1 1", node));
  CAF_CHECK(!parse_load("0.25 -1 1", node));
  CAF_CHECK(!parse_load("1e400 1 1", node));
  CAF_CHECK(parse_memory(meminfo_text, node));
  CAF_CHECK_EQUAL(node.total_memory, 2048.0);
  CAF_CHECK_EQUAL(node.free_memory, 1024.0);
  CAF_CHECK_EQUAL(node.buffers, 1.0);
  CAF_CHECK_EQUAL(node.cached, 2.0);
  CAF_CHECK_EQUAL(node.swap_cached, 0.5);
  CAF_CHECK_EQUAL(node.swap_total, 4.0);
  CAF_CHECK_EQUAL(node.swap_free, 3.0);
  CAF_CHECK_EQUAL(node.mapped, 0.25);
  CAF_CHECK(!parse_memory("MemFree: 1 kB\n", node));
  CAF_CHECK(parse_uptime("12.50 3.00\n") == 12.5);
}

CAF_TEST(M27 disks are those of hardware unless they are named) {
  const auto all = parse_disks(disks_text, {});
  CAF_REQUIRE_EQUAL(all.size(), 2u);
  CAF_CHECK(all[0].disk == "nvme0n1");
  CAF_CHECK_EQUAL(all[0].num_reads_completed, 10u);
  CAF_CHECK_EQUAL(all[0].num_reads_merged, 20u);
  CAF_CHECK_EQUAL(all[0].num_sectors_read, 30u);
  CAF_CHECK_EQUAL(all[0].milliseconds_reading, 40u);
  CAF_CHECK_EQUAL(all[0].num_writes_completed, 50u);
  CAF_CHECK_EQUAL(all[0].num_writes_merged, 60u);
  CAF_CHECK_EQUAL(all[0].num_sectors_written, 70u);
  CAF_CHECK_EQUAL(all[0].milliseconds_writing, 80u);
  CAF_CHECK_EQUAL(all[0].num_ios_in_progress, 1u);
  CAF_CHECK_EQUAL(all[0].milliseconds_io, 90u);
  CAF_CHECK_EQUAL(all[0].weighted_milliseconds_io, 100u);
  const auto some = parse_disks(disks_text, {"dm-0", "sda", "none"});
  CAF_REQUIRE_EQUAL(some.size(), 1u);
  CAF_CHECK(some[0].disk == "dm-0");
}

CAF_TEST(M27 networks are read and can be named) {
  const auto all = parse_nets(nets_text, {});
  CAF_REQUIRE_EQUAL(all.size(), 3u);
  CAF_CHECK(all[1].interface_name == "eth0");
  CAF_CHECK_EQUAL(all[1].num_bytes_received, 4000u);
  CAF_CHECK_EQUAL(all[1].num_packets_received, 40u);
  CAF_CHECK_EQUAL(all[1].num_receive_errors, 4u);
  CAF_CHECK_EQUAL(all[1].num_bytes_sent, 5000u);
  CAF_CHECK_EQUAL(all[1].num_packets_sent, 50u);
  CAF_CHECK_EQUAL(all[1].num_send_errors, 5u);
  CAF_CHECK(all[2].interface_name == "eth0:1");
  CAF_CHECK_EQUAL(parse_nets(nets_text, {"lo"}).size(), 1u);
}

CAF_TEST(M27 what the kernel says breaks no reader whatever it is) {
  CAF_CHECK(rc::check("any text", [](const std::string& text) {
    auto node = node_stats{};
    parse_process_stat(text);
    parse_uptime(text);
    parse_load(text, node);
    parse_memory(text, node);
    RC_ASSERT(parse_disks(text, {}).size() <= defaults::usage_devices);
    RC_ASSERT(parse_nets(text, {}).size() <= defaults::usage_devices);
  }));
  CAF_CHECK(rc::check("damaged text", [] {
    if (const auto x = parse_process_stat(damaged(stat_text))) {
      RC_ASSERT((x->state >= ' ' && x->state <= '~'));
      for (const auto c : x->name)
        RC_ASSERT((c >= ' ' && c <= '~'));
    }
    auto node = node_stats{};
    parse_memory(damaged(meminfo_text), node);
    RC_ASSERT(node.free_memory >= 0);
    for (const auto& x : parse_disks(damaged(disks_text), {}))
      RC_ASSERT((x.disk && !x.disk->empty()));
    for (const auto& x : parse_nets(damaged(nets_text), {}))
      RC_ASSERT((x.interface_name && !x.interface_name->empty()));
  }));
}

CAF_TEST(M27 there are never more devices than an answer may hold) {
  auto disks = std::string{};
  auto nets = std::string{};
  for (size_t i = 0; i < 2 * defaults::usage_devices; ++i) {
    disks += "8 0 sd" + std::to_string(i) + " 1 2 3 4 5 6 7 8 9 10 11\n";
    nets += "n" + std::to_string(i) + ": 1 2 3 4 5 6 7 8 9 10 11\n";
  }
  CAF_CHECK_EQUAL(parse_disks(disks, {}).size(), defaults::usage_devices);
  CAF_CHECK_EQUAL(parse_nets(nets, {}).size(), defaults::usage_devices);
}
