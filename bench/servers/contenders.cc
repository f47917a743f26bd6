#include "servers/contenders.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "load/socket.h"

namespace kvarts::load {
namespace {

constexpr char kNginxConfiguration[] = R"(daemon off;
{user}
worker_processes 1;
worker_rlimit_nofile 20000;
pid {dir}/pid;
error_log stderr crit;
events {{
  use epoll;
  worker_connections 16384;
  multi_accept on;
}}
http {{
  access_log off;
  server_tokens off;
  default_type application/octet-stream;
  {sending}
  tcp_nodelay on;
  keepalive_timeout 1h;
  keepalive_requests 1000000000;
  open_file_cache max=16 inactive=1h;
  open_file_cache_valid 1h;
  client_body_temp_path {dir}/body;
  proxy_temp_path {dir}/proxy;
  fastcgi_temp_path {dir}/fastcgi;
  uwsgi_temp_path {dir}/uwsgi;
  scgi_temp_path {dir}/scgi;
  server {{
    listen 127.0.0.1:{port} backlog=1024;
    root {dir};
    location = /file {{}}
  }}
}}
)";

constexpr char kWrkScript[] = R"(local requests = {}
local at = 0
function init(args)
  for path in io.lines(args[1]) do
    requests[#requests + 1] = wrk.format("GET", path)
  end
end
function request()
  at = at % #requests + 1
  return requests[at]
end
)";

const char* SendingLines(NginxSending sending) {
  switch (sending) {
    case NginxSending::kCopied:
      return "sendfile off;";
    case NginxSending::kSendfile:
      return "sendfile on;";
    case NginxSending::kSendfileHeld:
      return "sendfile on;\n  tcp_nopush on;";
  }
  return "";
}

void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  if (!out.flush()) GiveUp("a file cannot be written: " + path);
}

}  // namespace

const char* NginxSendingName(NginxSending sending) {
  switch (sending) {
    case NginxSending::kCopied:
      return "sendfile off";
    case NginxSending::kSendfile:
      return "sendfile on";
    case NginxSending::kSendfileHeld:
      return "sendfile and tcp_nopush on";
  }
  return "";
}

ServerProcess StartNginx(const std::string& dir, NginxSending sending, size_t bytes) {
  std::filesystem::create_directories(dir);
  const uint16_t port = FreePort();
  WriteFile(dir + "/file", std::string(bytes, 'v'));
  WriteFile(dir + "/nginx.conf",
            fmt::format(kNginxConfiguration, fmt::arg("user", getuid() == 0 ? "user root;" : ""), fmt::arg("dir", dir),
                        fmt::arg("sending", SendingLines(sending)), fmt::arg("port", port)));
  // Debian has it where not everybody looks.
  const char* program = access("/usr/sbin/nginx", X_OK) == 0 ? "/usr/sbin/nginx" : "nginx";
  ServerProcess server({program, "-p", dir, "-e", "stderr", "-c", dir + "/nginx.conf"}, dir + "/log", port);
  server.WaitUntilListening();
  server.MeasureChild();
  return server;
}

ServerProcess StartKvarts(const std::string& program, const std::string& data, const std::vector<std::string>& more) {
  const uint16_t port = FreePort();
  std::vector<std::string> command = {program,       "serve",  "--listen", fmt::format("127.0.0.1:{}", port),
                                      "--data",      data,     "--loops",  "1",
                                      "--log-level", "warning"};
  command.insert(command.end(), more.begin(), more.end());
  ServerProcess server(command, data + ".log", port);
  server.WaitUntilListening();
  return server;
}

ServerProcess StartKvartsOnPostgres(const std::string& program, const std::string& data, const std::string& shards) {
  const uint16_t port = FreePort();
  ServerProcess server({program, "serve", "--listen", fmt::format("127.0.0.1:{}", port), "--data", data, "--engine",
                        "postgres", "--shards", shards, "--log-level", "warning"},
                       data + ".log", port, Pinned::kNo);
  server.WaitUntilListening();
  return server;
}

std::string KvartsProgram() {
  if (const char* other = std::getenv("KVARTS_BENCH_SERVER"); other != nullptr) return other;
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "kvarts").string();
}

double RunWrk(const std::string& dir, uint16_t port, const std::vector<std::string>& paths, const std::string& header,
              uint32_t connections, int seconds) {
  std::filesystem::create_directories(dir);
  std::string lines;
  for (const std::string& path : paths) lines += path + "\n";
  WriteFile(dir + "/paths", lines);
  WriteFile(dir + "/script.lua", kWrkScript);
  const std::string command =
      fmt::format("wrk -t 1 -c {0} -d {1}s -s '{2}/script.lua' {3} http://127.0.0.1:{4} -- '{2}/paths' 2>&1",
                  connections, seconds, dir, header.empty() ? "" : "-H '" + header + "'", port);
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) GiveUp("wrk cannot be started");
  std::string said;
  for (char block[4096]; std::fgets(block, sizeof(block), pipe) != nullptr;) said += block;
  const bool good = pclose(pipe) == 0;
  const size_t at = said.find("Requests/sec:");
  if (!good || at == said.npos || said.find("Non-2xx") != said.npos) GiveUp("wrk says: " + said);
  return std::stod(said.substr(at + 13));
}

}  // namespace kvarts::load
