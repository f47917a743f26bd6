#include "support/certificates.h"

#include <filesystem>
#include <stdexcept>

#include "support/programs.h"

namespace kvarts::test {

void MakeCertificate(const std::string& dir, const std::string& name) {
  const std::string path = dir + "/" + name;
  const ProgramRun made =
      RunProgram({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                  "-days", "2", "-subj", "/CN=" + name, "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                  path + ".key", "-out", path + ".pem"});
  if (made.code != 0) throw std::runtime_error("openssl: " + made.err);
}

void InstallCertificate(const std::string& dir, const std::string& from, const std::string& to) {
  for (const char* kind : {".pem", ".key"}) {
    std::filesystem::copy_file(dir + "/" + from + kind, dir + "/" + to + kind,
                               std::filesystem::copy_options::overwrite_existing);
  }
}

}  // namespace kvarts::test
