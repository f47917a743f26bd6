#include "document/schema_format.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kvarts {
namespace {

struct Texts {
  SchemaFormat format;
  std::vector<std::string> good;
  std::vector<std::string> bad;
};

void Hold(const Texts& texts) {
  for (const std::string& text : texts.good) EXPECT_TRUE(HasFormat(texts.format, text)) << text;
  for (const std::string& text : texts.bad) EXPECT_FALSE(HasFormat(texts.format, text)) << text;
  EXPECT_FALSE(HasFormat(texts.format, "")) << FormatName(texts.format);
  for (const std::string& text : texts.good) {
    EXPECT_FALSE(HasFormat(texts.format, " " + text)) << text;
    EXPECT_FALSE(HasFormat(texts.format, text + "\n")) << text;
    EXPECT_FALSE(HasFormat(texts.format, text + '\0')) << text;
  }
}

TEST(SchemaFormatTest, NamesAreRead) {
  for (const char* name : {"date-time", "date", "time", "email", "uuid", "uri", "ipv4", "ipv6", "hostname"}) {
    ASSERT_TRUE(FormatNamed(name).has_value()) << name;
    EXPECT_EQ(FormatName(*FormatNamed(name)), name);
  }
  for (const char* name : {"", "Date", "regex", "idn-email"}) EXPECT_FALSE(FormatNamed(name).has_value()) << name;
}

TEST(SchemaFormatTest, DateTime) {
  Hold({SchemaFormat::kDateTime,
        {"2026-07-05T10:15:30Z", "2026-07-05T10:15:30.123456789+02:00", "2026-07-05t10:15:30z",
         "0000-01-01T00:00:00-23:59", "2024-02-29T00:00:00Z", "1998-12-31T23:59:60Z", "1998-12-31T15:59:60.5-08:00",
         "1999-01-01T00:59:60+01:00"},
        {"2026-07-05", "2026-07-05T10:15:30", "2026-07-05 10:15:30Z", "2026-07-05T10:15Z", "2026-07-05T24:00:00Z",
         "2026-07-05T10:60:00Z", "2026-07-05T10:15:61Z", "2026-07-05T10:15:30.Z", "2026-07-05T10:15:30+2:00",
         "2026-07-05T10:15:30+24:00", "2026-07-05T10:15:30+02:60", "2026-07-05T10:15:30+0200", "2023-02-29T00:00:00Z",
         "1998-12-31T23:58:60Z", "1998-12-31T22:59:60Z", "1998-12-31T23:59:60-01:00", "26-07-05T10:15:30Z"}});
}

TEST(SchemaFormatTest, Date) {
  Hold({SchemaFormat::kDate,
        {"2026-07-05", "2000-02-29", "9999-12-31"},
        {"2026-7-5", "2026-13-01", "2026-00-01", "2026-01-00", "2026-04-31", "1900-02-29", "20260705", "2026-07-05Z",
         "+026-07-05"}});
}

TEST(SchemaFormatTest, Time) {
  Hold({SchemaFormat::kTime,
        {"10:15:30Z", "10:15:30.5+05:30", "23:59:60Z"},
        {"10:15:30", "10:15Z", "24:00:00Z", "10:15:30 Z", "1:15:30Z", "22:59:60Z", "10:15:30ZZ"}});
}

TEST(SchemaFormatTest, Email) {
  Hold({SchemaFormat::kEmail,
        {"ada@example.org", "a.b+c@x", "a@[127.0.0.1]", "a@[IPv6:::1]", "\"a b\"@x.org", "\"a@b\"@x", R"("a\"b\\"@x)",
         std::string(64, 'a') + "@x", "!#$%&'*+-/=?^_`{|}~@x", "\"\"@x"},
        {"ada",
         "@x",
         "a@",
         "a@@x",
         ".a@x",
         "a.@x",
         "a..b@x",
         "a b@x",
         "a@-x",
         "a@x_y",
         "a@[300.0.0.1]",
         "a@[::1]",
         "a@[127.0.0.1",
         R"("a"b"@x)",
         R"("a\"@x)",
         R"("a\\"b"@x)",
         std::string(65, 'a') + "@x",
         "ä@x",
         "a@x.",
         "\"@x"}});
}

TEST(SchemaFormatTest, Uuid) {
  Hold({SchemaFormat::kUuid,
        {"0190a6b2-7c1f-7d3e-8a5b-0123456789ab", "0190A6B2-7C1F-7D3E-8A5B-0123456789AB",
         "00000000-0000-0000-0000-000000000000"},
        {"0190a6b27c1f7d3e8a5b0123456789ab", "0190a6b2-7c1f-7d3e-8a5b-0123456789a",
         "0190a6b2-7c1f-7d3e-8a5b-0123456789ag", "{0190a6b2-7c1f-7d3e-8a5b-0123456789ab}",
         "0190a6b-27c1f-7d3e-8a5b-0123456789ab"}});
}

TEST(SchemaFormatTest, Uri) {
  Hold({SchemaFormat::kUri,
        {"https://example.org", "http://u:p@h.org:8080/a/b;c?d=e&f=/?#g/?", "mailto:ada@example.org", "urn:isbn:1",
         "file:///etc/hosts", "http://[::1]:80/", "http://[v7.a:b]/", "a+b-c.1:x", "http://h/%C3%A4", "tel:+1-2",
         "x:", "http://h:/"},
        {"example.org",
         "/a/b",
         "//h/a",
         ":x",
         "1a:x",
         "http://h/a b",
         "http://h/%",
         "http://h/%2",
         "http://h/%zz",
         "http://h/<x>",
         "http://h:8o/",
         "http://[::1",
         "http://[1]/",
         "http://a]b/",
         "http://a@b@c/",
         "http://h/ä",
         "a#b:c",
         "http://h/#a#b",
         R"(http:\\h)",
         "ä:x",
         "http://[v.x]/",
         "http://[v1.]/",
         "http://[v1.%41]/",
         "http://h/[x]"}});
}

TEST(SchemaFormatTest, Addresses) {
  Hold({SchemaFormat::kIpv4,
        {"0.0.0.0", "127.0.0.1", "255.255.255.255"},
        {"256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.", ".1.2.3", "1..2.3", "1.2.3.4/8", "a.b.c.d",
         "0x1.2.3.4", "1.2.3.0000"}});
  Hold({SchemaFormat::kIpv6,
        {"::", "::1", "2001:db8::8a2e:370:7334", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "ABCD::"},
        {"1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", ":::", "1::2::3", "12345::", "g::", "::1%eth0", "::1/64", "[::1]",
         "::1.2.3", "::1.2.3.400", std::string("::1\0::", 6), std::string(1000, '1')}});
}

TEST(SchemaFormatTest, Hostname) {
  const std::string label(63, 'a');
  Hold({SchemaFormat::kHostname,
        {"localhost", "example.org", "a-b.c--d.1", "1.2", label + ".b",
         label + "." + label + "." + label + "." + label.substr(2)},
        {".", "a.", ".a", "a..b", "-a", "a-", "a_b", "a b", "ä", "a.-b", label + "a",
         label + "." + label + "." + label + "." + label}});
}

}  // namespace
}  // namespace kvarts
