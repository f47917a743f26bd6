#include "ack_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "base/bytes.h"
#include "support/files.h"

namespace kvarts::test {
namespace {

constexpr size_t kRecordBytes = 1 + 4 + 8 + 8 + 8;

}  // namespace

AckLog::AckLog(const std::string& path) : fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (fd_ < 0) throw std::runtime_error("cannot open " + path);
}

AckLog::~AckLog() { close(fd_); }

void AckLog::Append(const AckRecord& record) {
  Bytes bytes(1, static_cast<char>(record.kind));
  AppendLittle(&bytes, record.op.writer);
  AppendLittle(&bytes, record.op.number);
  AppendLittle(&bytes, record.op.aux);
  AppendLittle(&bytes, record.version.stamp);
  if (write(fd_, bytes.data(), bytes.size()) != static_cast<ssize_t>(kRecordBytes)) std::abort();
}

std::vector<AckRecord> AckLog::Read(const std::string& path) {
  const std::string bytes = ReadBytes(path);
  std::vector<AckRecord> records;
  for (size_t at = 0; at + kRecordBytes <= bytes.size(); at += kRecordBytes) {
    const char* from = bytes.data() + at;
    AckRecord& record = records.emplace_back();
    record.kind = static_cast<AckRecord::Kind>(from[0]);
    record.op = {LoadLittle<uint32_t>(from + 1), LoadLittle<uint64_t>(from + 5), LoadLittle<uint64_t>(from + 13)};
    record.version = {LoadLittle<uint64_t>(from + 21)};
  }
  return records;
}

}  // namespace kvarts::test
