// Certificates for 127.0.0.1, made by openssl.
#pragma once

#include <string>

namespace kvarts::test {

// One that vouches for itself, as DIR/NAME.pem and DIR/NAME.key. Throws when it cannot be made.
void MakeCertificate(const std::string& dir, const std::string& name);
// Lets TO.pem and TO.key be what FROM's are.
void InstallCertificate(const std::string& dir, const std::string& from, const std::string& to);

}  // namespace kvarts::test
