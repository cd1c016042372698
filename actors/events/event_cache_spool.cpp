#include "actors/events/event_cache_state.hpp"
#include "messages/bounded_codec.hpp"

#include <utility>

// The way to the disk and back: events are bytes there.

namespace troupe::event_cache_internals {

namespace {

void write(self_pointer self, uint64_t log,
           const std::vector<spool_effects::payload>& batch) {
  auto request = write_spool{log, {}};
  for (const auto& [number, what] : batch)
    request.records.push_back({number, encode(*what)});
  self->request(self->state.options.spool, caf::infinite, std::move(request))
    .then([self, log](ack) { self->state.log->note_written(log, true); },
          [self, log](const caf::error& why) {
            self->state.note(severity::warning, reason_of(why));
            self->state.log->note_written(log, false);
          });
}

void read(self_pointer self, uint64_t log,
          const std::vector<uint64_t>& numbers) {
  self
    ->request(self->state.options.spool, caf::infinite,
              read_spool{log, numbers})
    .then(
      [self, log](const spool_content& content) {
        auto found = std::vector<spool_effects::payload>{};
        for (const auto& x : content.records)
          if (auto what = decode<event>(x.bytes))
            found.emplace_back(x.number,
                               std::make_shared<const event>(std::move(*what)));
        self->state.log->note_loaded(log, found);
      },
      [self, log, numbers](const caf::error&) {
        // The disk was not asked: nothing is lost yet.
        const auto id = self->state.later.add(
          [self, log, numbers] { read(self, log, numbers); });
        self->delayed_send(self, defaults::event_spool_retry, deadline{id});
      });
}

} // namespace

spool_effects means_of_disk(self_pointer self) {
  auto out = spool_effects{};
  out.write = [self](uint64_t log,
                     const std::vector<spool_effects::payload>& batch) {
    write(self, log, batch);
  };
  out.read = [self](uint64_t log, const std::vector<uint64_t>& numbers) {
    read(self, log, numbers);
  };
  out.erase = [self](uint64_t log, std::vector<uint64_t> numbers) {
    self->send(self->state.options.spool, erase_spool{log, std::move(numbers)});
  };
  out.warn = [self](const std::string& line) {
    self->state.note(severity::warning, line);
  };
  return out;
}

} // namespace troupe::event_cache_internals
