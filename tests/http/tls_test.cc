// TLS, with certificates made here; curl and openssl are the clients. The engine plays no part.
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "http/http_fixture.h"
#include "support/certificates.h"

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;

class TlsTest : public ::testing::Test {
 protected:
  // NAME.pem and NAME.key.
  void MakeCertificate(const std::string& name) const { test::MakeCertificate(files_.path(), name); }
  // Puts a certificate in the place from which the server reads it.
  void Install(const std::string& name) const { InstallCertificate(files_.path(), name, "server"); }
  std::unique_ptr<ServerProcess> Start(std::vector<std::string> options = {}) const {
    options.insert(options.end(), {"--engine", "memory", "--tls-certificate", files_ / "server.pem", "--tls-key",
                                   files_ / "server.key"});
    return std::make_unique<ServerProcess>(options);
  }
  void SetUp() override {
    MakeCertificate("one");
    Install("one");
  }
  // curl's exit code, when it trusts the certificate of this name.
  int CurlCode(const ServerProcess& server, const std::string& name, std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"curl",       "-s", "-o",       "/dev/null",
                                      "--max-time", "20", "--cacert", files_ / (name + ".pem")};
    words.insert(words.end(), more.begin(), more.end());
    words.push_back("https://" + server.address() + "/livez");
    return RunProgram(words).code;
  }

  TempDir files_;
};

constexpr int kNotTrusted = 60;  // of curl

TEST_F(TlsTest, ServesWhoTrustsIt) {
  const auto server = Start();
  EXPECT_EQ(CurlCode(*server, "one"), 0);
  EXPECT_EQ(CurlCode(*server, "one", {"--tls-max", "1.2"}), 0);
  EXPECT_NE(CurlCode(*server, "one", {"--tls-max", "1.1"}), 0);
  EXPECT_EQ(RunProgram({"curl", "-s", "https://" + server->address() + "/livez"}).code, kNotTrusted);
}

TEST_F(TlsTest, CarriesLargeBodiesBothWays) {
  const auto server = Start();
  std::string value;
  for (int i = 0; i < 5'000'000; ++i) value.push_back(static_cast<char>(i * 31 + i / 1000));
  const std::string url = "https://" + server->address() + "/keys/large";
  const std::string trust = files_ / "one.pem";
  EXPECT_EQ(Curl({"--cacert", trust, "-X", "PUT", "--data-binary", "@-", "-H", "Content-Type:", "-H",
                  "Prefer: return=minimal", url},
                 value)
                .status,
            204);
  EXPECT_TRUE(Curl({"--cacert", trust, "-H", "Accept: application/octet-stream", url}).body == value);
  EXPECT_EQ(Curl({"--cacert", trust, "-T", "-", "-H", "Prefer: return=minimal", url}, value).status, 204);  // chunked
  EXPECT_TRUE(Curl({"--cacert", trust, "--tls-max", "1.2", "-H", "Accept: application/octet-stream", url}).body ==
              value);
}

TEST_F(TlsTest, AnswersPipelinedRequestsInOrder) {
  const auto server = Start();
  std::string text;
  for (int i = 0; i < 200; ++i) {
    text += RequestText("PUT", "/keys/tls/" + std::to_string(i), {}, "value " + std::to_string(i));
    text += RequestText("GET", "/keys/tls/" + std::to_string(i), {{"Accept", "application/octet-stream"}});
  }
  text += RequestText("GET", "/livez", {{"Connection", "close"}});
  const ProgramRun run = RunProgram(
      {"openssl", "s_client", "-quiet", "-verify_quiet", "-CAfile", files_ / "one.pem", "-connect", server->address()},
      text);
  size_t at = 0;
  for (int i = 0; i < 200; ++i) {
    at = run.out.find("\r\n\r\nvalue " + std::to_string(i), at);
    ASSERT_NE(at, std::string::npos) << i;
  }
  EXPECT_NE(run.out.find("alive", at), std::string::npos);
}

TEST_F(TlsTest, AHangupReadsTheCertificateAnew) {
  const auto server = Start();
  MakeCertificate("two");
  EXPECT_EQ(CurlCode(*server, "one"), 0);
  EXPECT_EQ(CurlCode(*server, "two"), kNotTrusted);
  Install("two");
  server->Signal(SIGHUP);
  ASSERT_TRUE(server->AwaitLog("were read again"));
  EXPECT_EQ(CurlCode(*server, "two"), 0);
  EXPECT_EQ(CurlCode(*server, "one"), kNotTrusted);
  // What cannot be used changes nothing.
  std::ofstream(files_ / "server.pem") << "nonsense";
  server->Signal(SIGHUP);
  ASSERT_TRUE(server->AwaitLog("stay as they were"));
  EXPECT_EQ(CurlCode(*server, "two"), 0);
}

TEST_F(TlsTest, GarbageAndPlainClientsCostNothing) {
  const auto server = Start({"--http-head-timeout", "500ms"});
  std::vector<std::string> texts = {"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n", std::string(100'000, '\0'), "\n",
                                    std::string("\x16\x03\x01\x00\x05hello", 10),
                                    std::string("\x16\x03\x01\xff\xff", 5)};
  for (const std::string& text : texts) {
    HttpClient client(server->address());
    client.Send(text);
    EXPECT_TRUE(client.EndsWithin(milliseconds(5'000))) << text.substr(0, 10);
    HttpClient(server->address()).Send(text);
  }
  HttpClient silent(server->address());
  EXPECT_EQ(CurlCode(*server, "one"), 0);
  EXPECT_TRUE(silent.EndsWithin(milliseconds(5'000)));
}

TEST_F(TlsTest, TheOldestVersionAndTheClientsCertificateAreOptions) {
  MakeCertificate("client");
  const auto server = Start({"--tls-min-version", "1.3", "--tls-client-ca", files_ / "client.pem"});
  const std::vector<std::string> known = {"--cert", files_ / "client.pem", "--key", files_ / "client.key"};
  const std::vector<std::string> unknown = {"--cert", files_ / "one.pem", "--key", files_ / "one.key"};
  EXPECT_EQ(CurlCode(*server, "one", known), 0);
  EXPECT_NE(CurlCode(*server, "one"), 0);
  EXPECT_NE(CurlCode(*server, "one", unknown), 0);
  EXPECT_NE(CurlCode(*server, "one", {known[0], known[1], known[2], known[3], "--tls-max", "1.2"}), 0);
}

// A session as openssl keeps it: what was agreed upon, the client's certificate included.
class ResumptionTest : public TlsTest {
 protected:
  struct Talk {
    bool served = false;
    bool resumed = false;
  };

  // Asks with these words to openssl besides.
  Talk Ask(const ServerProcess& server, const std::string& version, std::vector<std::string> more) const {
    // The session comes behind the handshake, so the connection must last until something was answered.
    std::vector<std::string> words = {"openssl",          "s_client",    "-verify_quiet", "-ign_eof",      "-CAfile",
                                      files_ / "one.pem", "-" + version, "-connect",      server.address()};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramRun run = RunProgram(words, RequestText("GET", "/livez", {{"Connection", "close"}}));
    return {run.out.find("\r\n\r\nalive") != std::string::npos, run.out.find("\nReused, TLSv1") != std::string::npos};
  }
  std::vector<std::string> Known(const std::string& name) const {
    return {"-cert", files_ / (name + ".pem"), "-key", files_ / (name + ".key")};
  }
  static std::vector<std::string> Together(std::vector<std::string> a, const std::vector<std::string>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
};

TEST_F(ResumptionTest, ASessionIsWhoeverHadItAndNobodyElses) {
  MakeCertificate("client");
  InstallCertificate(files_.path(), "client", "trusted");
  const auto server = Start({"--tls-client-ca", files_ / "trusted.pem"});
  const std::vector<std::string> resume = {"-sess_in", files_ / "session"};
  for (const std::string version : {"tls1_2", "tls1_3"}) {
    SCOPED_TRACE(version);
    std::filesystem::remove(files_ / "session");
    const std::vector<std::string> keep = {"-sess_out", files_ / "session"};
    EXPECT_FALSE(Ask(*server, version, keep).served) << "without a certificate";
    EXPECT_FALSE(Ask(*server, version, Together(Known("one"), keep)).served) << "with another's";
    // What was left of those, if anything, is of no use.
    const bool left = std::filesystem::exists(files_ / "session");
    EXPECT_FALSE(left && Ask(*server, version, resume).served);
    const Talk first = Ask(*server, version, Together(Known("client"), keep));
    EXPECT_TRUE(first.served && !first.resumed);
    ASSERT_TRUE(std::filesystem::exists(files_ / "session"));
    const Talk again = Ask(*server, version, Together(Known("client"), resume));
    EXPECT_TRUE(again.served && again.resumed);
  }
}

TEST_F(ResumptionTest, AHangupThatChangesWhoIsTrustedEndsSessionsToo) {
  MakeCertificate("old");
  MakeCertificate("new");
  for (const std::string version : {"tls1_2", "tls1_3"}) {
    SCOPED_TRACE(version);
    InstallCertificate(files_.path(), "old", "trusted");
    const auto server = Start({"--tls-client-ca", files_ / "trusted.pem"});
    const std::vector<std::string> resume = Together(Known("old"), {"-sess_in", files_ / "session"});
    ASSERT_TRUE(Ask(*server, version, Together(Known("old"), {"-sess_out", files_ / "session"})).served);
    ASSERT_TRUE(Ask(*server, version, resume).resumed);
    EXPECT_FALSE(Ask(*server, version, Known("new")).served);
    InstallCertificate(files_.path(), "new", "trusted");
    server->Signal(SIGHUP);
    ASSERT_TRUE(server->AwaitLog("were read again"));
    EXPECT_FALSE(Ask(*server, version, resume).served);
    EXPECT_TRUE(Ask(*server, version, Known("new")).served);
  }
}

TEST_F(TlsTest, FilesThatDoNotFitAreRefusedAtTheStart) {
  MakeCertificate("other");
  std::filesystem::copy_file(files_ / "other.key", files_ / "server.key",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THROW(Start(), std::runtime_error);
  std::filesystem::remove(files_ / "server.pem");
  EXPECT_THROW(Start(), std::runtime_error);
}

}  // namespace
}  // namespace kvarts::test
