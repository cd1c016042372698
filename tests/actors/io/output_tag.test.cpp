// The marks of OpenPMIx 6 on lines.

#include "actors/io/output_formatter.hpp"
#include "tests/fixtures/output_display.hpp"

using namespace troupe;
using namespace troupe::fixtures;
using namespace troupe::fixtures::display_of_output;

CAF_TEST(I16 lines are tagged with the job and the rank and the stream) {
  auto uut = with([](auto& x) { x.tag = true; });
  uut.add(remote, "a\nb\n").add(first, "c\n", err);
  uut.add(first, "d\n", io_channels::stddiag);
  CAF_CHECK_EQUAL(uut.text, "[2,3]<stdout>: a\n"
                            "[2,3]<stdout>: b\n"
                            "[job-1,0]<stderr>: c\n"
                            "[job-1,0]<stddiag>: d\n");
}

CAF_TEST(I16 tags with the full name and with host and process number) {
  auto full = with([](auto& x) { x.tag_fullname = true; });
  CAF_CHECK_EQUAL(full.add(remote, "a\n").text,
                  "[prterun-head-17@2,3]<stdout>: a\n");
  auto detailed = with([](auto& x) { x.tag_detailed = true; });
  CAF_CHECK_EQUAL(detailed.add(remote, "a\n").add({"x@1", 10}, "b\n").text,
                  "[2,3][node3:103]<stdout>: a\n"
                  "[1,10][unknown:unknown]<stdout>: b\n");
  auto both = with([](auto& x) { x.tag_detailed = x.tag_fullname = true; });
  CAF_CHECK_EQUAL(both.add(remote, "a\n").text,
                  "[prterun-head-17@2,3][node3:103]<stdout>: a\n");
  auto rank = with([](auto& x) { x.rank = true; });
  CAF_CHECK_EQUAL(rank.add(remote, "a\n", err).text, "[3]<stderr>: a\n");
}

CAF_TEST(I16 a host is looked up once for each stream) {
  auto format = output_format{};
  format.tag_detailed = true;
  display uut{format};
  uut.add(remote, "a\n").add(remote, "b\n").add(remote, "c");
  CAF_CHECK_EQUAL(uut.lookups, 1u);
  uut.end(remote);
  CAF_CHECK_EQUAL(uut.lookups, 1u);
  CAF_CHECK_EQUAL(uut.text, "[2,3][node3:103]<stdout>: a\n"
                            "[2,3][node3:103]<stdout>: b\n"
                            "[2,3][node3:103]<stdout>: c\n");
  uut.add(remote, "again\n");
  CAF_CHECK_EQUAL(uut.lookups, 2u);
}

CAF_TEST(I16 the time in front is when the line was read) {
  auto alone = with([](auto& x) { x.timestamp = true; });
  alone.add(first, "a\nbe", out, 7).add(first, "gun\nc\n", out, 12);
  CAF_CHECK_EQUAL(alone.text, "[Thu Nov  6 16:43:07 2025]<stdout>: a\n"
                              "[Thu Nov  6 16:43:07 2025]<stdout>: begun\n"
                              "[Thu Nov  6 16:43:12 2025]<stdout>: c\n");
  auto tag = with([](auto& x) { x.timestamp = x.tag = true; });
  CAF_CHECK_EQUAL(tag.add(remote, "a\n", out, 9).text,
                  "[Thu Nov  6 16:43:09 2025][2,3]<stdout>: a\n");
  // As OpenPMIx 6.1 has it, with the stream twice.
  auto full = with([](auto& x) { x.timestamp = x.tag_fullname = true; });
  CAF_CHECK_EQUAL(full.add({"n", 1}, "a\n", out, 9).text,
                  "[Thu Nov  6 16:43:09 2025]<stdout>: [n,1]<stdout>: a\n");
  auto iso = with([](auto& x) { x.timestamp = x.rank = x.iso_time = true; });
  CAF_CHECK_EQUAL(iso.add(first, "a\n", out, 9).text,
                  "[2025-11-06T16:43:09.000+01:00][0]<stdout>: a\n");
}

CAF_TEST(I16 elements of XML) {
  auto plain = with([](auto& x) { x.xml = true; });
  plain.add(first, "a<b> & \"c\"\t\xc3\xa4\xff\n").add(second, "x", err);
  plain.end(second, err);
  CAF_CHECK_EQUAL(plain.text, "<stdout rank=\"0\">a&lt;b&gt; &amp; \"c\"&#009;"
                              "\xc3\xa4&#255;&#010;</stdout>\n"
                              "<stderr rank=\"1\">x</stderr>\n");
  auto tag = with([](auto& x) { x.xml = x.tag = x.timestamp = true; });
  CAF_CHECK_EQUAL(tag.add(remote, "a\n", out, 7).add(first, "b\n", out, 8).text,
                  "<stdout jobid=\"2\" rank=\"3\" "
                  "timestamp=\"Thu Nov  6 16:43:07 2025\">a&#010;</stdout>\n"
                  "<stdout nspace=\"job-1\" rank=\"0\" "
                  "timestamp=\"Thu Nov  6 16:43:08 2025\">b&#010;</stdout>\n");
  auto full = with([](auto& x) { x.xml = x.tag_fullname = true; });
  CAF_CHECK_EQUAL(full.add(remote, "a\n").text,
                  "<stdout nspace=\"prterun-head-17@2\" rank=\"3\">"
                  "a&#010;</stdout>\n");
  auto detailed = with([](auto& x) { x.xml = x.tag_detailed = true; });
  CAF_CHECK_EQUAL(detailed.add({"a\"<", 3}, "a\n").text,
                  "<stdout nspace=\"a&quot;&lt;\" rank=\"3\" "
                  "hostname=\"node3\" pid=\"103\">a&#010;</stdout>\n");
}

CAF_TEST(I16 X31 XML has characters of XML only whatever a program writes) {
  auto plain = with([](auto& x) { x.xml = true; });
  plain.add(first, std::string{"\0\x1b\x7f\r\xef\xbf\xbf\xef\xbf\xbd\n", 11});
  CAF_CHECK_EQUAL(plain.text,
                  "<stdout rank=\"0\">&#9216;&#9243;&#127;&#013;"
                  "&#239;&#191;&#191;\xef\xbf\xbd&#010;</stdout>\n");
  CAF_CHECK(!plain.formatter.on_stderr(err));
}

CAF_TEST(I16 raw output is marked as it comes and lines are not waited for) {
  auto uut = with([](auto& x) { x.raw = x.rank = true; });
  uut.add(first, "no line").add(first, " yet\nnext\n");
  CAF_CHECK_EQUAL(uut.text, "[0]<stdout>: no line[0]<stdout>:  yet\nnext\n");
  auto plain = with([](auto& x) { x.raw = true; });
  CAF_CHECK(plain.formatter.is_plain());
  CAF_CHECK_EQUAL(plain.add(first, "x").text, "x");
}

CAF_TEST(X31 a tag cannot be smuggled into a terminal) {
  auto uut = with([](auto& x) { x.tag = true; });
  CAF_CHECK_EQUAL(uut.add({"\x1b]0;\x07", 0}, "a\n").text,
                  "[\\x1b]0;\\x07,0]<stdout>: a\n");
}
