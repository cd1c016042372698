// From the directives of a job, or of a reader, to how streams are wired.

#include "actors/io/io_options.hpp"

#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

spawn_request job_with(std::vector<info> infos) {
  auto result = spawn_request{};
  result.job_infos = std::move(infos);
  result.apps.resize(1);
  return result;
}

io_wiring wiring(std::vector<info> infos) {
  auto result = read_io_wiring(job_with(std::move(infos)));
  CAF_REQUIRE(result);
  return *result;
}

std::string trouble(std::vector<info> infos) {
  const auto result = read_io_wiring(job_with(std::move(infos)));
  CAF_REQUIRE(!result);
  CAF_CHECK(status_of(result.error()) == status::bad_param);
  return reason_of(result.error());
}

io_pull_request pull_with(std::vector<info> directives) {
  auto result = io_pull_request{};
  result.procs = {{"job", 3}};
  result.channels = io_channels::stdout_;
  result.directives = std::move(directives);
  return result;
}

} // namespace

CAF_TEST(I15 without directives both outputs go to whoever started the job) {
  const auto x = wiring({});
  CAF_CHECK(forwarded_channels(x)
            == united(io_channels::stdout_, io_channels::stderr_));
  CAF_CHECK_EQUAL(x.stdin_target, rank_undef);
  CAF_CHECK(x.overflow == io_policy::block);
  CAF_CHECK(!x.tail);
  CAF_CHECK(!x.merge);
  CAF_CHECK(!x.with_pty);
}

CAF_TEST(I16 the description of a job says what is forwarded) {
  auto x = wiring(
    {with(attr::fwd_stdout, value::boolean(false)), with(attr::fwd_stddiag)});
  CAF_CHECK(forwarded_channels(x)
            == united(io_channels::stderr_, io_channels::stddiag));
  x = wiring({with(attr::iof_file_only),
              with(attr::iof_output_to_file, value::string("/tmp/out"))});
  CAF_CHECK(forwarded_channels(x) == io_channels::none);
  CAF_CHECK_EQUAL(x.file, "/tmp/out");
  // Without a file there is nothing else.
  CAF_CHECK(!wiring({with(attr::iof_file_only)}).file_only);
}

CAF_TEST(I16 the description of a job says how streams are wired) {
  const auto window = std::string{"\x18\0\x50\0\0\0\0\0", 8};
  const auto x =
    wiring({with(attr::stdin_tgt, value::rank(rank_wildcard)),
            with(attr::merge_stderr_stdout), with(attr::iof_drop_newest),
            with(attr::iof_cache_size, value::uint32(4096)),
            with(attr::output_to_directory, value::string("/tmp/dir")),
            with(attr::iof_file_pattern), with(attr::spawn_pty),
            with(attr::pty_wsize, value::bytes(window)), with(attr::tag_output),
            with(attr::timestamp_output),
            with(attr::iof_buffering_size, value::uint32(512)),
            with(attr::iof_buffering_time, value::uint32(2))});
  CAF_CHECK_EQUAL(x.stdin_target, rank_wildcard);
  CAF_CHECK(x.merge);
  CAF_CHECK(x.overflow == io_policy::drop_newest);
  CAF_CHECK(x.tail == 4096u);
  CAF_CHECK_EQUAL(x.directory, "/tmp/dir");
  CAF_CHECK(x.file_is_pattern);
  CAF_CHECK(x.with_pty);
  CAF_CHECK_EQUAL(x.pty_rows, 24u);
  CAF_CHECK_EQUAL(x.pty_columns, 80u);
  CAF_CHECK(x.format.tag);
  CAF_CHECK(x.format.timestamp);
  CAF_CHECK(!x.format.xml);
  CAF_CHECK_EQUAL(x.format.buffer_size, 512u);
  CAF_CHECK_EQUAL(x.format.buffer_time, 2u);
}

CAF_TEST(I16 directives may come with a program) {
  auto request = job_with({});
  request.apps[0].infos = {with(attr::iof_tag_output)};
  const auto x = read_io_wiring(request);
  CAF_REQUIRE(x);
  CAF_CHECK(x->format.tag);
}

CAF_TEST(I6 input goes to whom the requester is going to push it to) {
  const auto target = [](value x) {
    return wiring({with(attr::fwd_stdin, std::move(x))}).stdin_target;
  };
  CAF_CHECK_EQUAL(target(value::rank(3)), 3u);
  CAF_CHECK_EQUAL(target(value::rank(rank_wildcard)), rank_wildcard);
  CAF_CHECK_EQUAL(target(value::of_proc({"job", 5})), 5u);
  // Older releases say yes or no.
  CAF_CHECK_EQUAL(target(value::boolean(true)), 0u);
  CAF_CHECK_EQUAL(target({}), 0u);
  CAF_CHECK_EQUAL(target(value::boolean(false)), rank_undef);
  // Whoever names a process means that one.
  CAF_CHECK_EQUAL(wiring({with(attr::fwd_stdin, value::boolean(true)),
                          with(attr::stdin_tgt, value::rank(2))})
                    .stdin_target,
                  2u);
}

CAF_TEST(I6 input goes to the rank named in whatever way) {
  CAF_CHECK_EQUAL(
    wiring({with(attr::stdin_tgt, value::of_proc({"job", 5}))}).stdin_target,
    5u);
  CAF_CHECK_EQUAL(wiring({with(attr::stdin_tgt, value::rank(2))}).stdin_target,
                  2u);
  CAF_CHECK_EQUAL(
    wiring({with(attr::stdin_tgt, value::string("all"))}).stdin_target,
    rank_wildcard);
  CAF_CHECK_EQUAL(
    wiring({with(attr::stdin_tgt, value::string("none"))}).stdin_target,
    rank_undef);
  CAF_CHECK_EQUAL(
    wiring({with(attr::stdin_tgt, value::string("7"))}).stdin_target, 7u);
}

CAF_TEST(I16 what cannot be meant is refused with its name and a remedy) {
  CAF_CHECK_EQUAL(
    trouble({with(attr::iof_drop_newest), with(attr::iof_drop_oldest)}),
    "PMIX_IOF_DROP_OLDEST and PMIX_IOF_DROP_NEWEST exclude each other; give "
    "one of them");
  CAF_CHECK_EQUAL(
    trouble({with(attr::iof_cache_size, value::string("much"))}),
    "PMIX_IOF_CACHE_SIZE is no number of this kind; give bytes as uint32_t");
  CAF_CHECK_EQUAL(
    trouble({with(attr::iof_output_to_file, value::uint32(3))}),
    "PMIX_IOF_OUTPUT_TO_FILE is no text; give the name of a file");
  CAF_CHECK_EQUAL(trouble({with(attr::pty_wsize, value::bytes("xy"))}),
                  "PMIX_PTY_WSIZE is no size of a window; give the bytes of a "
                  "struct winsize");
}

// -- readers ------------------------------------------------------------------

CAF_TEST(I2 I8 a reader says what it wants and where it begins) {
  auto x = read_subscription(pull_with({}));
  CAF_REQUIRE(x);
  CAF_CHECK(x->sources == (std::vector<proc_id>{{"job", 3}}));
  CAF_CHECK(x->channels == io_channels::stdout_);
  CAF_CHECK(x->policy == io_policy::block);
  CAF_CHECK(x->start == io_start::tail);
  CAF_CHECK_EQUAL(x->window, 0u);
  x = read_subscription(pull_with(
    {with(io_offset_key, value::uint64(77)), with(attr::iof_drop_oldest),
     with(attr::iof_cache_size, value::uint32(1000))}));
  CAF_REQUIRE(x);
  CAF_CHECK(x->start == io_start::offset);
  CAF_CHECK_EQUAL(x->offset, 77u);
  CAF_CHECK(x->policy == io_policy::drop_oldest);
  CAF_CHECK_EQUAL(x->window, 1000u);
  x = read_subscription(pull_with({with(io_start_key, value::string("live"))}));
  CAF_REQUIRE(x);
  CAF_CHECK(x->start == io_start::live);
}

CAF_TEST(I5 a reader that names nobody wants all) {
  auto request = pull_with({});
  request.procs.clear();
  const auto x = read_subscription(request);
  CAF_REQUIRE(x);
  CAF_CHECK(x->sources == (std::vector<proc_id>{{"", rank_wildcard}}));
}

CAF_TEST(I5 a reader without an output channel is refused) {
  auto request = pull_with({});
  request.channels = io_channels::stdin_;
  const auto x = read_subscription(request);
  CAF_REQUIRE(!x);
  CAF_CHECK(status_of(x.error()) == status::bad_param);
  request.channels = static_cast<io_channels>(0xff);
  const auto y = read_subscription(request);
  CAF_REQUIRE(y);
  CAF_CHECK(y->channels == output_channels);
}

CAF_TEST(I16 a resource manager says with its job where output goes) {
  auto what = register_nspace{};
  what.nspace = "job";
  what.owner = {1000, 1000};
  what.infos = {
    {std::string{attr::job_size}, 0, value::uint32(12)},
    {std::string{attr::iof_output_to_file}, 0, value::string("/tmp/x")},
    {std::string{attr::proc_data}, 0,
     value::infos({{std::string{attr::iof_output_to_directory}, 0,
                    value::string("/of/a/process")}})},
    {std::string{attr::job_info_array}, 0,
     value::infos(
       {{std::string{attr::iof_tag_output}, 0, value::boolean(true)}})}};
  const auto job = read_io_job(what);
  CAF_REQUIRE(job);
  CAF_CHECK_EQUAL(job->nspace, "job");
  CAF_CHECK_EQUAL(job->uid, 1000u);
  CAF_CHECK_EQUAL(job->size, 12u);
  CAF_CHECK_EQUAL(job->wiring.file, "/tmp/x");
  CAF_CHECK_EQUAL(job->wiring.directory, "");
  CAF_CHECK(job->wiring.format.tag);
  what.infos[1].val = value::boolean(true);
  const auto wrong = read_io_job(what);
  CAF_REQUIRE(!wrong);
  CAF_CHECK(status_of(wrong.error()) == status::bad_param);
}

CAF_TEST(I8 a reader begins at one place only) {
  CAF_CHECK(
    !read_subscription(pull_with({with(io_start_key, value::string("live")),
                                  with(io_offset_key, value::uint64(1))})));
  CAF_CHECK(!read_subscription(
    pull_with({with(io_start_key, value::string("somewhere"))})));
  CAF_CHECK(!read_subscription(
    pull_with({with(attr::iof_drop_oldest), with(attr::iof_drop_newest)})));
}
