// What a daemon does with libtroupe, from the other side of the shared library:
// calls of its functions, messages both ways, errors, inspection, and message
// types of its own beside those of the library.

#include <caf/all.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

#include <actors/mesh/partial_host.hpp>
#include <messages/attributes.hpp>
#include <runtime/runtime.hpp>
#include <unistd.h>

#include <iostream>

using namespace troupe;

/// A message that the library does not know.
struct note {
  proc_id from;
  value content;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, note& x) {
  return f(caf::meta::type_name("note"), x.from, x.content);
}

CAF_BEGIN_TYPE_ID_BLOCK(boundary, caf::id_block::troupe_actors::end)
  CAF_ADD_TYPE_ID(boundary, (note))
CAF_END_TYPE_ID_BLOCK(boundary)

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  std::cout << (holds ? "ok   " : "FAIL ") << what << std::endl;
  failures += holds ? 0 : 1;
}

void functions() {
  expect(to_string(status::timeout) == "PMIX_ERR_TIMEOUT", "names of statuses");
  expect(status_named("PMIX_ERR_TIMEOUT") == status::timeout,
         "statuses by name");
  const auto err = make_error(status::exists, "twice");
  expect(status_of(err) == status::exists && reason_of(err) == "twice",
         "errors made here and read there");
  size_t count = 0;
  const auto* all = all_attributes(count);
  expect(all != nullptr && count > 500, "the table of attributes");
  const auto* size = attribute_named("PMIX_JOB_SIZE");
  expect(size != nullptr && size->key == attr::job_size
           && attribute_of(attr::job_size) != nullptr,
         "attributes by name and key");
  expect(to_string(data_type::proc_rank) == "PROC_RANK"
           && storage_of(data_type::string) == storage_class::text
           && width_of(data_type::uint16) == 2,
         "types of values");
  auto sensors = sensor_settings{};
  auto monitors = monitor_settings{};
  expect(!apply_settings(monitors, {"plugins=/nowhere"})
           && monitors.plugins == "/nowhere"
           && status_of(apply_settings(sensors, {"colour=red"}))
                == status::bad_param,
         "settings");
}

void values() {
  const auto infos = std::vector<info>{
    {"b", 0, value::boolean(true)},
    {"s", 0, value::string("text")},
    {"u", 0, value::uint64(7)},
    {"z", 0, value::size(8)},
    {"i", 0, value::integer(-1)},
    {"p", 0, value::pid(9)},
    {"o", 0, value::of_proc({"job", 3})},
    {"c", 0, value::of_status(-1)},
    {"y", 0, value::bytes("raw")},
    {"n", 0, value::procs({{"job", 1}})},
    {"a", 0, value::array(data_type::uint32, {value::uint32(1)})}};
  expect(flag(infos, "b") && text(infos, "s") == "text"
           && number<uint32_t>(infos, "u") == 7u && find(infos, "x") == nullptr,
         "infos are found");
  expect(find(infos, "o")->proc()->rank == 3
           && procs_of(*find(infos, "n")).size() == 1
           && find(infos, "a")->array() != nullptr,
         "structures inside values");
  const auto nested = value::infos(infos);
  expect(infos_of(nested) == infos && value{nested} == nested,
         "values copy and compare");
}

/// Through our own system and the library's `inspect`.
void inspection(caf::actor_system& sys) {
  const auto before = register_nspace{
    "job", {1, 2}, {0, 1}, {{"key", 0, value::string("x")}}, true};
  auto sent = before;
  std::vector<char> bytes;
  caf::binary_serializer sink{sys, bytes};
  expect(!sink(sent) && !bytes.empty(), "a message is written");
  auto after = register_nspace{};
  caf::binary_deserializer source{sys, bytes};
  expect(!source(after) && after == before, "and read");
  expect(caf::deep_to_string(before).find("job") != std::string::npos,
         "a message is printed");
}

/// Knows a message of ours, and asks the library's actors.
caf::behavior guest(caf::event_based_actor* self, io_desk_actor desk) {
  return {[self, desk](const note& x) {
    auto answer = self->make_response_promise<size_t>();
    const auto expected = x.content == value::string("hello") ? 1u : 1000u;
    self->request(desk, caf::infinite, list_io{})
      .then(
        [answer, expected](const io_list& known) mutable {
          answer.deliver(known.streams.size() + expected);
        },
        [answer](const caf::error& err) mutable { answer.deliver(err); });
    return answer;
  }};
}

void messages(runtime& rt) {
  caf::scoped_actor self{rt.actors()};
  const auto actor = rt.actors().spawn(guest, rt.streams());
  self
    ->request(actor, std::chrono::seconds{20},
              note{{"job", 0}, value::string("hello")})
    .receive(
      [](size_t n) { expect(n == 1, "messages go both ways"); },
      [](const caf::error& err) { expect(false, reason_of(err).c_str()); });
  self->send_exit(actor, caf::exit_reason::user_shutdown);
  const auto twice =
    register_nspace{"job", {getuid(), getgid()}, {}, {}, false};
  expect(!rt.register_nspace(twice), "a namespace is registered");
  const auto err = rt.register_nspace(twice);
  expect(status_of(err) == status::exists && !reason_of(err).empty(),
         "errors made there and read here");
  expect(caf::to_string(caf::make_message(note{{"job", 0}, value::uint32(1)}))
             .find("job")
           != std::string::npos,
         "a message of ours is printed");
}

} // namespace

int main() {
  functions();
  values();
  auto lines = 0;
  auto options = runtime_options{};
  options.configure = [](caf::actor_system_config& cfg) {
    cfg.add_message_type<note>("note");
  };
  options.log = [&lines](severity, const std::string&) { ++lines; };
  auto rt = runtime::start(std::move(options), [](caf::actor_system& sys) {
    return spawn_partial_host(sys, {});
  });
  if (!rt) {
    std::cerr << reason_of(rt.error()) << std::endl;
    return 2;
  }
  inspection((*rt)->actors());
  messages(**rt);
  (*rt)->stop();
  std::cout << failures << " failed" << std::endl;
  return failures == 0 ? 0 : 1;
}
