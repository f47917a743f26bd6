// Secrets of the store: random bytes that only its own processes know, kept in the store itself, so that whichever
// process answers a request knows those of the one that answered the request before. Each use has a secret of its own,
// by name, which is made when it is first asked for and never changes.
//
// No tool prints them: whoever shows stored values asks IsSecret first. Whoever can read the files of the store can
// read them, as everything else in it.
#pragma once

#include <string_view>

#include "core/store.h"
#include "encoding/key_buffer.h"

namespace kvarts {

constexpr size_t kSecretBytes = 32;

// For sealing cursors (core/cursor.h).
constexpr std::string_view kCursorSecret = "cursor";

// Reads the secret, or makes it: then it is on disk when this returns. All who ask are given the same one. `corruption`
// when what is stored is no secret.
Result<Bytes> StoreSecret(Store& store, std::string_view name);

// (1, "secret", text name).
KeyBuffer SecretKey(std::string_view name);
// Whether a secret is stored under this physical key.
bool IsSecret(BytesView physical_key);

}  // namespace kvarts
