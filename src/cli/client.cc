#include "cli/client.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <utility>

#include "cli/place.h"
#include "cli/problem.h"
#include "server/config.h"
#include "server/server.h"

namespace kvarts::cli {
namespace {

constexpr size_t kMaxReplyBytes = 256 << 20;
constexpr size_t kMaxHeaderBytes = 64 << 10;
constexpr long kConnectSeconds = 10;
// A stream that says nothing for so long, not even that it lives, is broken.
constexpr long kSilentSeconds = 60;
constexpr Duration kPatient = Duration::Seconds(24 * 60 * 60);

volatile std::sig_atomic_t interrupted = 0;

// What a server in this process is like: it waits as long as its only client does.
ServerOptions ServedOptions(const Place& place) {
  ServerOptions options = OptionsFor(place);
  options.listen = {};
  options.loops = 1;
  options.worker_threads = 2;
  options.http.request_timeout = kPatient;
  options.http.idle_timeout = kPatient;
  options.http.write_timeout = kPatient;
  options.http.compress_min_bytes = 0;
  // Whoever reads a store does not expect that something is gone then.
  options.retention_interval = {};
  options.expiry_interval = {};
  options.survey_interval = {};
  options.metrics_enabled = false;
  options.hotkeys_enabled = false;
  return options;
}

Result<std::unique_ptr<Server>> StartOn(const Place& place, IfMissing if_missing) {
  auto engine = OpenPlace(place, if_missing);
  if (engine.has_value()) return Server::Start(ServedOptions(place), *std::move(engine));
  const Error& error = engine.error();
  if (error.code() != ErrorCode::kNotFound) return error;
  // What a command names, and may not find, is in the store.
  return Error(ErrorCode::kUnavailable, error.text().data(), {{"path", place.ToString()}});
}

bool IsSafe(const std::string& method) { return method == "GET" || method == "HEAD"; }

class CurlClient final : public Client {
 public:
  CurlClient(Target target, std::unique_ptr<Server> server) : target_(std::move(target)), server_(std::move(server)) {}
  ~CurlClient() override;

  Status Init();
  Result<Reply> Call(const Request& request) override;
  Status Stream(const Request& request, const std::function<bool(std::string_view)>& on_piece) override;

 private:
  // A request under way.
  struct Exchange {
    CURL* curl = nullptr;
    Reply reply;
    const std::function<bool(std::string_view)>* on_piece = nullptr;
    bool stopped = false;  // by on_piece
  };

  static size_t OnHeader(char* data, size_t size, size_t count, void* exchange);
  static size_t OnBody(char* data, size_t size, size_t count, void* exchange);
  static int OnProgress(void*, curl_off_t, curl_off_t, curl_off_t, curl_off_t) { return interrupted != 0 ? 1 : 0; }
  // The way to a server in this process. Of libcurl 7.88, CURL_SOCKOPT_ALREADY_CONNECTED is not true: it connects every
  // socket that it is given. So it gets a datagram socket, of which connecting is a formality, and when it is done, and
  // before anything is sent, the real socket takes its place.
  static curl_socket_t OpenSocket(void* client, curlsocktype, curl_sockaddr*);
  static int BeforeRequest(void* client, char*, char*, int, int);

  template <class Value>
  void Set(CURLoption option, Value value) {
    // Fails for options that the library lacks, none of which we use.
    curl_easy_setopt(curl_, option, value);
  }
  void SetUpConnection();
  void SetUpRequest(const Request& request, curl_slist* headers);
  Status Perform(const Request& request, Exchange* exchange);
  Error Failure(const Request& request, CURLcode code) const;
  Error Refusal(const Reply& reply) const;

  const Target target_;
  std::unique_ptr<Server> server_;  // of a place
  int stand_in_ = -1;               // for a socket that is being connected; curl's
  CURL* curl_ = nullptr;
  std::array<char, CURL_ERROR_SIZE> cause_{};
};

CurlClient::~CurlClient() {
  // With the connection gone there is nothing that the server would wait for.
  if (curl_ != nullptr) curl_easy_cleanup(curl_);
  if (server_) server_->Drain();
}

Status CurlClient::Init() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  curl_ = ready == CURLE_OK ? curl_easy_init() : nullptr;
  if (curl_ == nullptr) return Error(ErrorCode::kInternal, "libcurl cannot be used");
  return {};
}

size_t CurlClient::OnHeader(char* data, size_t size, size_t count, void* to) {
  auto& exchange = *static_cast<Exchange*>(to);
  const std::string_view line(data, size * count);
  const size_t colon = line.find(':');
  if (colon == line.npos || exchange.reply.headers.size() * 64 > kMaxHeaderBytes) return line.size();
  std::string name(line.substr(0, colon));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string_view value = line.substr(colon + 1);
  value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  exchange.reply.headers[name] = value.substr(0, value.find_last_not_of(" \t\r\n") + 1);
  return line.size();
}

size_t CurlClient::OnBody(char* data, size_t size, size_t count, void* to) {
  auto& exchange = *static_cast<Exchange*>(to);
  const std::string_view piece(data, size * count);
  long status = 0;
  curl_easy_getinfo(exchange.curl, CURLINFO_RESPONSE_CODE, &status);
  if (exchange.on_piece != nullptr && status / 100 == 2) {
    exchange.stopped = !(*exchange.on_piece)(piece);
    return exchange.stopped ? 0 : piece.size();
  }
  if (exchange.reply.body.size() + piece.size() > kMaxReplyBytes) return 0;
  exchange.reply.body.append(piece);
  return piece.size();
}

curl_socket_t CurlClient::OpenSocket(void* client, curlsocktype, curl_sockaddr*) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  static_cast<CurlClient*>(client)->stand_in_ = socket;
  return socket < 0 ? CURL_SOCKET_BAD : socket;
}

int CurlClient::BeforeRequest(void* to, char*, char*, int, int) {
  auto& client = *static_cast<CurlClient*>(to);
  const int stand_in = std::exchange(client.stand_in_, -1);
  if (stand_in < 0) return CURL_PREREQFUNC_OK;  // the connection is an old one
  const Result<int> socket = client.server_->Connect();
  if (!socket.has_value()) return CURL_PREREQFUNC_ABORT;
  const bool good = ::fcntl(*socket, F_SETFL, O_NONBLOCK) == 0 && ::dup3(*socket, stand_in, O_CLOEXEC) >= 0;
  ::close(*socket);
  return good ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

void CurlClient::SetUpConnection() {
  Set(CURLOPT_ERRORBUFFER, cause_.data());
  Set(CURLOPT_PROTOCOLS_STR, "http,https");
  Set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  // Keys such as ".." are keys, and nobody stands between us and the server without being named.
  Set(CURLOPT_PATH_AS_IS, 1L);
  Set(CURLOPT_PROXY, "");
  Set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  Set(CURLOPT_NOPROGRESS, 0L);
  Set(CURLOPT_XFERINFOFUNCTION, &CurlClient::OnProgress);
  if (!target_.ca_file.empty()) Set(CURLOPT_CAINFO, target_.ca_file.c_str());
  if (!target_.cert_file.empty()) {
    Set(CURLOPT_SSLCERT, target_.cert_file.c_str());
    Set(CURLOPT_SSLKEY, target_.key_file.empty() ? target_.cert_file.c_str() : target_.key_file.c_str());
  }
  if (!target_.unix_socket.empty()) Set(CURLOPT_UNIX_SOCKET_PATH, target_.unix_socket.c_str());
  if (!server_) {
    Set(CURLOPT_TCP_KEEPALIVE, 1L);
    return;
  }
  Set(CURLOPT_OPENSOCKETFUNCTION, &CurlClient::OpenSocket);
  Set(CURLOPT_OPENSOCKETDATA, this);
  Set(CURLOPT_PREREQFUNCTION, &CurlClient::BeforeRequest);
  Set(CURLOPT_PREREQDATA, this);
}

void CurlClient::SetUpRequest(const Request& request, curl_slist* headers) {
  const std::string url = target_.url + request.path;
  Set(CURLOPT_URL, url.c_str());  // which curl copies
  if (request.method == "GET") {
    Set(CURLOPT_HTTPGET, 1L);
  } else if (request.method == "HEAD") {
    Set(CURLOPT_NOBODY, 1L);
  } else if (!request.body.empty() || request.method != "DELETE") {
    Set(CURLOPT_POST, 1L);
    Set(CURLOPT_POSTFIELDS, request.body.data());
    Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  }
  if (request.method != "GET" && request.method != "HEAD") Set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  Set(CURLOPT_HTTPHEADER, headers);
}

Status CurlClient::Perform(const Request& request, Exchange* exchange) {
  curl_easy_reset(curl_);  // but for the connection
  cause_.fill('\0');
  curl_slist* headers = curl_slist_append(nullptr, "Expect:");
  if (request.body.empty()) headers = curl_slist_append(headers, "Content-Type:");
  for (const std::string& header : request.headers) headers = curl_slist_append(headers, header.c_str());
  if (!target_.token.empty()) {
    headers = curl_slist_append(headers, fmt::format("Authorization: Bearer {}", target_.token).c_str());
  }
  SetUpConnection();
  SetUpRequest(request, headers);
  exchange->curl = curl_;
  Set(CURLOPT_HEADERFUNCTION, &CurlClient::OnHeader);
  Set(CURLOPT_HEADERDATA, exchange);
  Set(CURLOPT_WRITEFUNCTION, &CurlClient::OnBody);
  Set(CURLOPT_WRITEDATA, exchange);
  if (exchange->on_piece != nullptr && !server_) {
    Set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    Set(CURLOPT_LOW_SPEED_TIME, kSilentSeconds);
  }
  const CURLcode code = curl_easy_perform(curl_);
  curl_slist_free_all(headers);
  long status = 0;
  curl_easy_getinfo(curl_, CURLINFO_RESPONSE_CODE, &status);
  exchange->reply.status = static_cast<int>(status);
  if (code != CURLE_OK && !exchange->stopped) return Failure(request, code);
  if (status / 100 != 2) return Refusal(exchange->reply);
  return {};
}

Error CurlClient::Refusal(const Reply& reply) const {
  const Error error = ErrorOfAnswer(reply.status, reply.body);
  // The server says this in words of HTTP. An error with a status is another server's, which may want something else.
  if (error.code() == ErrorCode::kUnauthenticated && target_.token.empty() && error.field("status").empty()) {
    return Error(error.code(), "a token is needed: --token, --token-file or KVARTS_TOKEN");
  }
  return error;
}

Error CurlClient::Failure(const Request& request, CURLcode code) const {
  const std::string cause = cause_[0] != '\0' ? cause_.data() : curl_easy_strerror(code);
  const auto unavailable = [&](const char* text) {
    return Error(ErrorCode::kUnavailable, text, {{"server", target_.ToString()}, {"cause", cause}});
  };
  switch (code) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
      return unavailable("the server cannot be reached; is it running? `kvarts serve` starts one");
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return Error(ErrorCode::kInvalidArgument, "this is no address of a server", {{"server", target_.ToString()}});
    case CURLE_PEER_FAILED_VERIFICATION:
      return unavailable("the certificate of the server is not trusted; --ca-file names one to trust");
    case CURLE_SSL_CACERT_BADFILE:
      return unavailable("the file of --ca-file cannot be used");
    case CURLE_SSL_CERTPROBLEM:
      return unavailable("the certificate of --cert-file and its key cannot be used");
    case CURLE_SSL_CONNECT_ERROR:
      return unavailable("the server does not speak TLS as we do; http:// is plain, https:// is not");
    case CURLE_ABORTED_BY_CALLBACK:
      return unavailable("interrupted");
    default:
      break;
  }
  // What was never sent has changed nothing.
  long sent = 0;
  curl_easy_getinfo(curl_, CURLINFO_REQUEST_SIZE, &sent);
  if (IsSafe(request.method) || sent == 0) return unavailable("the connection to the server broke");
  return Error(ErrorCode::kUnknownOutcome, "the connection broke before the answer came",
               {{"server", target_.ToString()}, {"cause", cause}});
}

Result<Reply> CurlClient::Call(const Request& request) {
  Exchange exchange;
  KVARTS_CHECK_OK(Perform(request, &exchange));
  return std::move(exchange.reply);
}

Status CurlClient::Stream(const Request& request, const std::function<bool(std::string_view)>& on_piece) {
  Exchange exchange;
  exchange.on_piece = &on_piece;
  return Perform(request, &exchange);
}

void OnInterrupt(int) { interrupted = 1; }

}  // namespace

std::string Reply::Header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string() : found->second;
}

Result<std::unique_ptr<Client>> Client::Open(const Arguments& arguments, IfMissing if_missing) {
  KVARTS_TRY(const Target target, TargetOf(arguments, EnvironmentOf(environ)));
  return Open(target, if_missing);
}

Result<std::unique_ptr<Client>> Client::Open(const Target& target, IfMissing if_missing) {
  std::unique_ptr<Server> server;
  if (target.place.IsNamed()) {
    KVARTS_TRY(server, StartOn(target.place, if_missing));
  }
  auto client = std::make_unique<CurlClient>(target, std::move(server));
  KVARTS_CHECK_OK(client->Init());
  return client;
}

Interruptible::Interruptible() {
  interrupted = 0;
  // Who sleeps or polls is woken all the same; what is being printed is printed to its end.
  struct sigaction action {};
  action.sa_handler = &OnInterrupt;
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
}

Interruptible::~Interruptible() {
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, SIG_DFL);
  interrupted = 0;
}

bool Interruptible::Happened() { return interrupted != 0; }

bool Interruptible::Sleep(Duration duration) {
  timespec left{duration.micros / 1'000'000, duration.micros % 1'000'000 * 1000};
  while (!Happened() && nanosleep(&left, &left) != 0) {
  }
  return !Happened();
}

}  // namespace kvarts::cli
