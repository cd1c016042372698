#include "adapters/spool/spool_store.hpp"

#include "messages/status.hpp"

#include <sqlite3.h>
#include <zlib.h>

#include <cstring>
#include <mutex>
#include <utility>

namespace troupe {

namespace {

/// The checksum of a record: of its bytes, and of what it is found by.
int64_t checksum(uint64_t log, uint64_t number, const void* bytes,
                 size_t size) {
  const uint64_t name[] = {log, number};
  auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(name), sizeof(name));
  if (size > 0) // Of nothing, zlib gives the sum to begin with.
    sum = crc32_z(sum, static_cast<const Bytef*>(bytes), size);
  return static_cast<int64_t>(sum);
}

/// Has SQLite put temporary files into `directory`. Not by an environment
/// variable: our children would inherit it.
void use_directory(const std::string& directory) {
  static std::mutex guard;
  const auto lock = std::lock_guard{guard};
  if (sqlite3_temp_directory != nullptr && directory == sqlite3_temp_directory)
    return;
  sqlite3_free(sqlite3_temp_directory);
  sqlite3_temp_directory = sqlite3_mprintf("%s", directory.c_str());
}

/// Resets a statement whatever becomes of it.
class use_of {
public:
  explicit use_of(sqlite3_stmt* x) : x_(x) {
    // nop
  }

  ~use_of() {
    sqlite3_reset(x_);
    sqlite3_clear_bindings(x_);
  }

  use_of(const use_of&) = delete;
  use_of& operator=(const use_of&) = delete;

private:
  sqlite3_stmt* x_;
};

/// Numbers of one log follow each other. Room for 8 million logs of 10^12
/// records; beyond it the checksum tells records with the same key apart.
constexpr int number_bits = 40;

int64_t key_of(uint64_t log, uint64_t number) {
  constexpr auto numbers = (uint64_t{1} << number_bits) - 1;
  constexpr auto logs = (uint64_t{1} << (63 - number_bits)) - 1;
  return static_cast<int64_t>((log & logs) << number_bits | (number & numbers));
}

} // namespace

void spool_store::closer::operator()(sqlite3* x) const noexcept {
  sqlite3_close_v2(x);
}

void spool_store::closer::operator()(sqlite3_stmt* x) const noexcept {
  sqlite3_finalize(x);
}

spool_store::~spool_store() = default;

caf::error spool_store::failure(const char* what) const {
  const auto code = sqlite3_extended_errcode(db_.get());
  return make_error((code & 0xff) == SQLITE_FULL ? status::out_of_resource
                                                 : status::in_errno,
                    std::string{what} + ": " + sqlite3_errmsg(db_.get()) + " ("
                      + std::to_string(code) + ")");
}

caf::error spool_store::run(const char* sql) {
  if (sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return failure("the spool of events");
  return {};
}

caf::error spool_store::prepare(const char* sql, statement& result) {
  sqlite3_stmt* made = nullptr;
  if (sqlite3_prepare_v3(db_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &made,
                         nullptr)
      != SQLITE_OK)
    return failure("the spool of events");
  result.reset(made);
  return {};
}

caf::expected<std::unique_ptr<spool_store>>
spool_store::open(const std::string& directory) {
  use_directory(directory);
  auto result = std::unique_ptr<spool_store>{new spool_store};
  sqlite3* made = nullptr;
  // An empty name is a database of its own, in a file without a name.
  const auto code = sqlite3_open_v2(
    "", &made, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
    nullptr);
  result->db_.reset(made);
  if (code != SQLITE_OK)
    return made != nullptr ? result->failure("the spool of events")
                           : make_error(status::nomem, "no memory for a spool");
  // Nothing survives us, so nothing is synced. With a journal, a write that
  // fails would make what is there unreadable.
  for (const auto* sql :
       {"PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF",
        "PRAGMA temp_store = FILE", "PRAGMA cache_size = -1024",
        "PRAGMA cell_size_check = ON",
        "CREATE TABLE record(key INTEGER PRIMARY KEY, sum INTEGER, "
        "bytes BLOB)"})
    if (auto err = result->run(sql))
      return err;
  for (const auto& [sql, to] : {
         std::pair{"INSERT OR REPLACE INTO record VALUES(?1, ?2, ?3)",
                   &result->insert_},
         std::pair{"SELECT sum, bytes FROM record WHERE key = ?1",
                   &result->select_},
         std::pair{"DELETE FROM record WHERE key BETWEEN ?1 AND ?2",
                   &result->erase_},
         std::pair{"SELECT 1 FROM record LIMIT 1", &result->any_},
       })
    if (auto err = result->prepare(sql, *to))
      return err;
  return result;
}

caf::error spool_store::write(const write_spool& what) {
  if (auto err = run("BEGIN"))
    return err;
  auto* insert = insert_.get();
  for (const auto& x : what.records) {
    const auto in_use = use_of{insert};
    sqlite3_bind_int64(insert, 1, key_of(what.log, x.number));
    sqlite3_bind_int64(
      insert, 2, checksum(what.log, x.number, x.bytes.data(), x.bytes.size()));
    sqlite3_bind_blob64(insert, 3, x.bytes.data(), x.bytes.size(),
                        SQLITE_STATIC);
    if (sqlite3_step(insert) != SQLITE_DONE) {
      auto err = failure("the spool of events");
      sqlite3_reset(insert);
      run("COMMIT"); // Whoever asked will write all of it again.
      return err;
    }
  }
  return run("COMMIT");
}

spool_content spool_store::read(const read_spool& what) {
  auto result = spool_content{};
  auto* select = select_.get();
  for (const auto number : what.numbers) {
    const auto in_use = use_of{select};
    sqlite3_bind_int64(select, 1, key_of(what.log, number));
    if (sqlite3_step(select) != SQLITE_ROW)
      continue;
    const auto sum = sqlite3_column_int64(select, 0);
    const auto* bytes = sqlite3_column_blob(select, 1);
    const auto size = static_cast<size_t>(sqlite3_column_bytes(select, 1));
    if (sum != checksum(what.log, number, bytes, size))
      continue;
    auto record = spool_record{number, {}};
    if (size > 0)
      record.bytes.assign(static_cast<const char*>(bytes), size);
    result.records.push_back(std::move(record));
  }
  return result;
}

void spool_store::erase(const erase_spool& what) {
  run("BEGIN");
  const auto apply = [&](uint64_t first, uint64_t last) {
    const auto in_use = use_of{erase_.get()};
    sqlite3_bind_int64(erase_.get(), 1, key_of(what.log, first));
    sqlite3_bind_int64(erase_.get(), 2, key_of(what.log, last));
    // What is damaged stays: its space is lost, and nothing else.
    sqlite3_step(erase_.get());
  };
  if (what.numbers.empty())
    apply(0, UINT64_MAX);
  // Mostly they follow each other.
  for (auto i = what.numbers.begin(); i != what.numbers.end();) {
    const auto first = *i;
    auto last = first;
    while (++i != what.numbers.end() && *i == last + 1)
      last = *i;
    apply(first, last);
  }
  run("COMMIT");
}

bool spool_store::is_empty() {
  const auto in_use = use_of{any_.get()};
  return sqlite3_step(any_.get()) == SQLITE_DONE;
}

} // namespace troupe
