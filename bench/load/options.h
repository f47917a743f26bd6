// The command line of the load generator.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "load/generator.h"
#include "load/http_protocol.h"
#include "load/resp_protocol.h"

namespace kvarts::load {

struct LoadOptions {
  Settings settings;
  HttpSettings http;
  RespSettings resp;
  bool speaks_resp = false;
  uint32_t idle = 0;  // connections to hold open instead of making load
  bool json = false;
};

// What is wrong with the words; empty when nothing is.
std::string ParseOptions(std::span<const char* const> words, LoadOptions* options);

extern const char kUsage[];

}  // namespace kvarts::load
