#include "net/mailbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <tuple>
#include <utility>

namespace kvarts::net {

Mailbox::Mailbox() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Mailbox::~Mailbox() { ::close(descriptor_); }

void Mailbox::Put(Letter letter) {
  bool first;
  {
    const std::lock_guard lock(mutex_);
    first = letters_.empty();
    letters_.push_back(std::move(letter));
  }
  if (first) HeldWakeups::Wake(*this);
}

void Mailbox::Wake() {
  // It counts up to 2^64 times.
  std::ignore = ::eventfd_write(descriptor_, 1);
}

void Mailbox::Open() {
  std::vector<Letter> letters;
  {
    const std::lock_guard lock(mutex_);
    letters.swap(letters_);
  }
  for (Letter& letter : letters) letter();
}

}  // namespace kvarts::net
