// What --output says.

#include "tools/output_options.hpp"

#include "messages/attributes.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

output_options read(const std::vector<std::string>& lists) {
  auto result = read_output_options(lists, "/here");
  if (!result)
    CAF_FAIL(reason_of(result.error()));
  return std::move(*result);
}

std::string refusal(const std::vector<std::string>& lists) {
  auto result = read_output_options(lists, "/here");
  return result ? std::string{} : reason_of(result.error());
}

} // namespace

CAF_TEST(I16 the words of a list are what a job is started with) {
  const auto x =
    read({"tag,timestamp,merge", "file=out.%r:pattern:nocopy,tail=4M"});
  CAF_CHECK(x.format.tag && x.format.timestamp && x.merge);
  CAF_CHECK(!x.format.label && !x.format.raw && !x.diagnostics);
  CAF_CHECK_EQUAL(x.file, "/here/out.%r");
  CAF_CHECK(x.file_is_pattern && x.file_only);
  CAF_CHECK_EQUAL(x.tail.value_or(0), uint64_t{4} << 20);
  const auto infos = to_infos(x);
  CAF_CHECK_EQUAL(infos.size(), 7u);
  CAF_CHECK(flag(infos, attr::iof_tag_output));
  CAF_CHECK(flag(infos, attr::iof_timestamp_output));
  CAF_CHECK(flag(infos, attr::iof_merge_stderr_stdout));
  CAF_CHECK(flag(infos, attr::iof_file_pattern));
  CAF_CHECK(flag(infos, attr::iof_file_only));
  CAF_CHECK(text(infos, attr::iof_output_to_file) == "/here/out.%r");
  CAF_CHECK(number<uint64_t>(infos, attr::iof_cache_size) == uint64_t{4} << 20);
}

CAF_TEST(I16 words are PRRTE s in any case and as short as they are clear) {
  auto x = read({"TAG,Merge-Stderr,TIME", "Directory=out:NOCOPY:raw"});
  CAF_CHECK(x.format.tag && !x.format.tag_detailed && x.format.timestamp);
  CAF_CHECK(x.merge && x.file_only && x.format.raw);
  CAF_CHECK_EQUAL(x.directory, "/here/out");
  x = read({"tag-d,filename=a:b:copy"});
  CAF_CHECK(x.format.tag_detailed && !x.format.tag && !x.file_only);
  CAF_CHECK_EQUAL(x.file, "/here/a:b");
  x = read({"tag:raw"});
  CAF_CHECK(x.format.tag && x.format.raw);
  x = read({":raw,:nocopy", "file=x"});
  CAF_CHECK(x.format.raw && x.file_only);
  CAF_CHECK_EQUAL(refusal({"t"}),
                  "--output \"t\" may be any of tag, tag-detailed, "
                  "tag-fullname, timestamp, tail; write the word in full");
  CAF_CHECK_EQUAL(refusal({"tag:loud"}),
                  "--output \"tag:loud\": only nocopy, copy, pattern and raw "
                  "may follow a colon");
  CAF_CHECK_EQUAL(refusal({"tag=1"}),
                  "--output \"tag=1\": tag takes no value; leave it out");
  CAF_CHECK_EQUAL(refusal({"tail"}),
                  "--output tail needs a value, such as tail=1M");
  CAF_CHECK_EQUAL(refusal({"dir=:nocopy"}),
                  "--output dir= needs a name, such as dir=out");
}

CAF_TEST(I16 nothing said is nothing asked for) {
  CAF_CHECK(to_infos(read({})).empty());
  CAF_CHECK(to_infos(read({"", ",", "copy"})).empty());
}

CAF_TEST(I18 one says what is dropped when output is not taken) {
  CAF_CHECK(read({"drop-oldest"}).policy == io_policy::drop_oldest);
  CAF_CHECK(read({"drop-newest"}).policy == io_policy::drop_newest);
  CAF_CHECK(flag(to_infos(read({"drop-newest"})), attr::iof_drop_newest));
  CAF_CHECK_EQUAL(refusal({"drop-newest,drop-oldest"}),
                  "--output drop-oldest and drop-newest exclude each other; "
                  "give one of them");
}

CAF_TEST(I16 what is wrong is named with its remedy) {
  CAF_CHECK_EQUAL(refusal({"tags"}), "--output does not know \"tags\"; see "
                                     "what --output takes by --help");
  CAF_CHECK_EQUAL(refusal({"dir="}),
                  "--output dir= needs a name, such as dir=out");
  CAF_CHECK_EQUAL(refusal({"dir=a,file=b"}),
                  "--output takes one of file=FILE and dir=DIR, once");
  CAF_CHECK_EQUAL(
    refusal({"pattern"}),
    "--output pattern is about file=FILE, which is missing; add it");
  CAF_CHECK_EQUAL(refusal({"file-only"}),
                  "--output file-only needs file=FILE or dir=DIR");
  CAF_CHECK_EQUAL(refusal({"tail=much"}), "--output tail=much is no number of "
                                          "bytes, such as 65536, 64K or 1M");
  CAF_CHECK_EQUAL(refusal({"buffer=5G"}), "--output buffer=5G is no number of "
                                          "bytes, such as 65536, 64K or 1M");
  CAF_CHECK(!refusal({"json,xml"}).empty());
  CAF_CHECK(!refusal({"raw,tag"}).empty());
}

CAF_TEST(I16 who only looks on writes no files) {
  CAF_CHECK(check_viewer(read({"tag,drop-oldest"})) == caf::none);
  for (const auto* word : {"dir=out", "file=out", "merge", "tail=1K"})
    CAF_CHECK(check_viewer(read({word})) != caf::none);
}

CAF_TEST(I16 sizes have units and bounds) {
  CAF_CHECK(parse_size("0") == uint64_t{0});
  CAF_CHECK(parse_size("64K") == uint64_t{65536});
  CAF_CHECK(parse_size("2g") == uint64_t{2} << 30);
  for (const auto* wrong : {"", "K", "-1", "1.5M", "1MB",
                            "18446744073709551615K", "99999999999999999999"})
    CAF_CHECK(!parse_size(wrong));
}
