// What a writing process leaves behind for the one that verifies: a file of fixed-size records, each written by one
// write(2) at the end, so that the file holds everything that was recorded before the process was killed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/version.h"
#include "workload.h"

namespace kvarts::test {

struct AckRecord {
  enum class Kind : uint8_t {
    kIntent,   // is about to be submitted
    kAcked,    // Done said: committed at `version`
    kRefused,  // Done said that nothing was written
    kUnknown,  // Done said: unknown outcome
    kSeen,     // a reader saw what the operation wrote, at `version`
    kTorn,     // a reader saw a part of what the operation wrote
  };
  Kind kind = Kind::kIntent;
  Op op;
  Version version;

  friend bool operator==(const AckRecord&, const AckRecord&) = default;
};

class AckLog {
 public:
  // Opens the file for appending, making it if need be.
  explicit AckLog(const std::string& path);
  ~AckLog();
  AckLog(const AckLog&) = delete;
  AckLog& operator=(const AckLog&) = delete;

  // Safe from any thread. A record that cannot be written ends the process.
  void Append(const AckRecord& record);

  // All whole records in the file; none if it is not there.
  static std::vector<AckRecord> Read(const std::string& path);

 private:
  int fd_;
};

}  // namespace kvarts::test
