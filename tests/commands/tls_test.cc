// Commands against a server that speaks TLS: whom they trust, and what they say when they do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/kvarts_process.h"
#include "support/certificates.h"
#include "support/files.h"
#include "support/server_process.h"

namespace kvarts::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class TlsCommands : public testing::Test {
 protected:
  TlsCommands() {
    for (const char* name : {"server", "other"}) MakeCertificate(files_.path(), name);
    server_ = std::make_unique<ServerProcess>(std::vector<std::string>{
        "--engine", "memory", "--tls-certificate", files_ / "server.pem", "--tls-key", files_ / "server.key"});
  }
  Ran Run(std::vector<std::string> words, const std::vector<std::string>& more = {}) const {
    words.insert(words.end(), {"--server", "https://" + server_->address()});
    words.insert(words.end(), more.begin(), more.end());
    return RunKvarts(words);
  }

  TempDir files_;
  std::unique_ptr<ServerProcess> server_;
};

TEST_F(TlsCommands, TrustTheFileThatIsNamed) {
  const std::vector<std::string> trust = {"--ca-file", files_ / "server.pem"};
  const Ran put = Run({"put", "user:1", "Ada"}, trust);
  EXPECT_EQ(put.code, 0) << put.err;
  EXPECT_EQ(Run({"get", "user:1"}, trust).out, "Ada");
  // Several may stand in one file.
  WriteBytes(files_ / "both.pem", ReadBytes(files_ / "other.pem") + ReadBytes(files_ / "server.pem"));
  EXPECT_EQ(Run({"get", "user:1"}, {"--ca-file", files_ / "both.pem"}).out, "Ada");
}

TEST_F(TlsCommands, RefuseWhomTheyDoNotTrust) {
  for (const std::vector<std::string>& trust : {std::vector<std::string>{}, {"--ca-file", files_ / "other.pem"}}) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"get", "user:1"}, {"put", "user:1", "Ada"}, {"export"}, {"stats"}}) {
      const Ran ran = Run(words, trust);
      EXPECT_EQ(ran.code, 1) << words[0];
      EXPECT_EQ(ran.out, "") << words[0];
      EXPECT_THAT(ran.err,
                  AllOf(HasSubstr("the certificate of the server is not trusted; --ca-file names one to trust"),
                        HasSubstr("https://" + server_->address())))
          << words[0];
    }
  }
  EXPECT_EQ(Run({"get", "user:1"}, {"--ca-file", files_ / "server.pem"}).code, 4) << "nothing was written";
}

TEST_F(TlsCommands, SayWhatIsWrongWithTheFile) {
  WriteBytes(files_ / "nonsense.pem", "nonsense");
  for (const char* name : {"nonsense.pem", "nowhere.pem"}) {
    const Ran ran = Run({"get", "user:1"}, {"--ca-file", files_ / name});
    EXPECT_EQ(ran.code, 1) << name;
    EXPECT_THAT(ran.err, HasSubstr("the file of --ca-file cannot be used")) << name;
  }
}

TEST_F(TlsCommands, ShowTheirCertificateWhereOneIsWanted) {
  const ServerProcess mutual({"--engine", "memory", "--tls-certificate", files_ / "server.pem", "--tls-key",
                              files_ / "server.key", "--tls-client-ca", files_ / "other.pem"});
  const auto get = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"get", "user:1", "--server", "https://" + mutual.address(), "--ca-file", files_ / "server.pem"});
    return RunKvarts(more);
  };
  constexpr int kNothingThere = 4;
  EXPECT_EQ(get({"--cert-file", files_ / "other.pem", "--key-file", files_ / "other.key"}).code, kNothingThere);
  WriteBytes(files_ / "whole.pem", ReadBytes(files_ / "other.pem") + ReadBytes(files_ / "other.key"));
  EXPECT_EQ(get({"--cert-file", files_ / "whole.pem"}).code, kNothingThere);
  EXPECT_EQ(get({}).code, 1);
  EXPECT_EQ(get({"--cert-file", files_ / "server.pem", "--key-file", files_ / "server.key"}).code, 1);
  const Ran wrong = get({"--cert-file", files_ / "other.pem", "--key-file", files_ / "server.key"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("the certificate of --cert-file and its key cannot be used"));
  EXPECT_THAT(get({"--key-file", files_ / "other.key"}).err, HasSubstr("--key-file is the key of a --cert-file"));
}

TEST_F(TlsCommands, SayWhenOneSideSpeaksPlainly) {
  const Ran plain = RunKvarts({"get", "user:1", "--server", "http://" + server_->address()});
  EXPECT_EQ(plain.code, 1);
  EXPECT_THAT(plain.err, HasSubstr("the connection to the server broke"));
  const ServerProcess without({"--engine", "memory"});
  const Ran ran = RunKvarts({"get", "user:1", "--server", "https://" + without.address()});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("the server does not speak TLS as we do"));
}

}  // namespace
}  // namespace kvarts::test
