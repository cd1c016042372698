// Makes the first inputs of the fuzz targets from the captured sessions:
//   fuzz_seeds FOLDER [CAPTURES]
// writes FOLDER/x/... for each target fuzz_x.

#include "adapters/wire/compression.hpp"
#include "adapters/wire/node_map.hpp"
#include "tests/adapters/wire/captures.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/reply_kinds.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <set>

using namespace troupe::wire;
using namespace troupe::wire::fuzz;
using namespace troupe::wire::test;

namespace {

/// Writes each input once.
class corpus {
public:
  explicit corpus(std::filesystem::path folder) : folder_(std::move(folder)) {
    // nop
  }

  void add(const std::string& target, const std::string& input) {
    if (!inputs_.insert(target + '/' + input).second)
      return;
    const auto folder = folder_ / target;
    std::filesystem::create_directories(folder);
    const auto name = "seed-" + std::to_string(std::hash<std::string>{}(input));
    std::ofstream{folder / name, std::ios::binary} << input;
  }

  size_t size() const {
    return inputs_.size();
  }

private:
  std::filesystem::path folder_;
  std::set<std::string> inputs_;
};

/// The index of the dialect of the targets that is closest to `d`.
char index_of(const dialect& d) {
  for (size_t i = 0; i < std::size(dialects); ++i)
    if (dialects[i].module == d.module && dialects[i].described == d.described
        && dialects[i].peer.major == d.peer.major)
      return static_cast<char>(i);
  return 0;
}

void add_message(corpus& out, const captured& x) {
  const auto index = std::string(1, index_of(x.rules));
  const auto reply = [&](uint8_t kind) {
    out.add("reply", index + static_cast<char>(kind) + x.payload);
  };
  if (x.kind != message_kind::hello && x.kind != message_kind::connect_reply)
    out.add("frame", '\x07' + x.bytes);
  switch (x.kind) {
    case message_kind::hello:
      out.add("hello", '\x07' + x.payload);
      break;
    case message_kind::connect_reply:
      reply(connect_reply_kind);
      break;
    case message_kind::request:
      out.add("request", index + x.payload);
      break;
    case message_kind::reply:
      reply(static_cast<uint8_t>(x.asked));
      break;
    case message_kind::event:
      reply(event_kind);
      break;
    case message_kind::output:
      reply(output_kind);
      break;
    case message_kind::heartbeat:
      break;
  }
}

/// What real packers made of each type.
void add_vectors(corpus& out, const std::filesystem::path& captures) {
  constexpr char columns[] = {0, 6, 4};
  auto file = std::ifstream{captures / "type-vectors.tsv"};
  for (auto line = std::string{}; std::getline(file, line);) {
    auto fields = std::istringstream{line};
    auto field = std::string{};
    if (line.empty() || line.front() == '#'
        || !std::getline(fields, field, '\t')
        || !std::getline(fields, field, '\t'))
      continue;
    const auto type = static_cast<char>(std::stoi(field));
    constexpr auto room = '\7';
    for (auto index : columns) {
      if (!std::getline(fields, field, '\t') || field == "-")
        continue;
      out.add("value", std::string{index, type} + from_hex(field));
      if (index == columns[0])
        out.add("data_unpack", std::string{type, room} + from_hex(field));
    }
  }
}

void add_texts(corpus& out) {
  for (const auto* x :
       {"server.0;tcp4://127.0.0.1:40001", "a.b.1;tcp6://[::1]:5",
        "PMIX_SERVER_URI41:PMIX_SERVER_URI3;server.0;tcp4://127.0.0.1:1",
        "server.0;tcp4://127.0.0.1:1\n4.2.2\n12\n0:0\nThu Nov 20 2026\n\n"})
    out.add("uri", x);
  for (const auto* x : {"pmix[n[2:1-3,7],login,gpu[1:1]x]", "pmix[0-3;4-7;8]",
                        "raw:n01,n02", "raw:0-3;4-7", "n1,n2"})
    out.add("node_map", x);
  const auto nodes = format_node_map({"n1", "n2", "n3"}, map_form::blob);
  out.add("node_map", nodes ? *nodes : std::string{});
  for (const auto& text :
       {std::string{}, std::string{"hello"}, std::string(5000, 'x')}) {
    out.add("inflate", deflate_text(text));
    out.add("data_decompress", deflate_text(text));
  }
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: fuzz_seeds FOLDER [CAPTURES]\n";
    return 2;
  }
  const auto captures =
    std::filesystem::path{argc == 3 ? argv[2] : TROUPE_CAPTURES};
  auto out = corpus{argv[1]};
  for (const auto& capture : read_captures(captures))
    for (const auto& message : capture.messages)
      add_message(out, message);
  add_vectors(out, captures);
  add_texts(out);
  std::cout << out.size() << " seeds\n";
}
