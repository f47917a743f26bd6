// CLIENT TRACKING and what belongs to it: clients that keep what they have read.
#include "protocol/resp/arguments.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/service.h"
#include "protocol/resp/session.h"

namespace kvarts::resp {
namespace {

struct Wanted {
  TrackingOptions options;
  std::vector<std::string_view> prefixes;
};

Result<uint64_t> RedirectOf(ClientCall& call, std::string_view argument) {
  KVARTS_TRY(const int64_t id, IntegerOf(argument));
  if (call.service.clients.Find(static_cast<uint64_t>(id)) == nullptr) {
    return Wrong("The client ID you want redirect to does not exist");
  }
  return static_cast<uint64_t>(id);
}

Result<Wanted> ReadWanted(ClientCall& call) {
  const Arguments words = call.arguments.subspan(3);
  Wanted wanted;
  TrackingOptions& options = wanted.options;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool more = i + 1 < words.size();
    if (IsWord(words[i], "REDIRECT") && more) {
      if (options.redirect != 0) return Wrong("A client can only redirect to a single other client");
      KVARTS_TRY(options.redirect, RedirectOf(call, words[++i]));
    } else if (IsWord(words[i], "BCAST")) {
      options.broadcast = true;
    } else if (IsWord(words[i], "OPTIN")) {
      options.opt_in = true;
    } else if (IsWord(words[i], "OPTOUT")) {
      options.opt_out = true;
    } else if (IsWord(words[i], "NOLOOP")) {
      options.no_loop = true;
    } else if (IsWord(words[i], "PREFIX") && more) {
      wanted.prefixes.push_back(words[++i]);
    } else {
      return Wrong(kSyntaxError);
    }
  }
  return wanted;
}

// Whether they go together, and with how the client tracks so far.
Status CheckOptions(const Wanted& wanted, const std::optional<Tracking::Info>& so_far) {
  const TrackingOptions& options = wanted.options;
  if (!options.broadcast && !wanted.prefixes.empty()) return Wrong("PREFIX option requires BCAST mode to be enabled");
  if (so_far && so_far->options.broadcast != options.broadcast) {
    return Wrong(
        "You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a "
        "different mode.");
  }
  if (options.broadcast && (options.opt_in || options.opt_out)) {
    return Wrong("OPTIN and OPTOUT are not compatible with BCAST");
  }
  if (options.opt_in && options.opt_out) return Wrong("You can't specify both OPTIN mode and OPTOUT mode");
  if (so_far && ((options.opt_in && so_far->options.opt_out) || (options.opt_out && so_far->options.opt_in))) {
    return Wrong(
        "You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a "
        "different mode.");
  }
  return {};
}

std::vector<std::string_view> FlagsOf(const Tracking::Info& info, bool caching) {
  const TrackingOptions& options = info.options;
  std::vector<std::string_view> flags{"on"};
  if (options.broadcast) flags.push_back("bcast");
  if (options.opt_in) flags.push_back("optin");
  if (options.opt_in && caching) flags.push_back("caching-yes");
  if (options.opt_out) flags.push_back("optout");
  if (options.opt_out && caching) flags.push_back("caching-no");
  if (options.no_loop) flags.push_back("noloop");
  if (info.broken) flags.push_back("broken_redirect");
  return flags;
}

int64_t ShownRedirect(const std::optional<Tracking::Info>& info) {
  return info ? static_cast<int64_t>(info->options.redirect) : -1;
}

}  // namespace

void Session::EndTracking(Service& service) {
  if (tracking) service.tracking.Off(id);
  tracking.reset();
  caching = false;
}

Status ClientTracking(ClientCall& call) {
  Session& session = call.session;
  Tracking& tracking = call.service.tracking;
  KVARTS_TRY(const Wanted wanted, ReadWanted(call));
  if (IsWord(call.arguments[2], "ON")) {
    const auto so_far = tracking.Of(session.id);
    KVARTS_CHECK_OK(CheckOptions(wanted, so_far));
    KVARTS_CHECK_OK(tracking.On(session.id, wanted.options, wanted.prefixes));
    session.tracking = wanted.options;
  } else if (IsWord(call.arguments[2], "OFF")) {
    session.EndTracking(call.service);
  } else {
    return Wrong(kSyntaxError);
  }
  call.reply.Simple("OK");
  return {};
}

Status ClientCaching(ClientCall& call) {
  Session& session = call.session;
  if (!session.tracking) {
    return Wrong(
        "CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled");
  }
  const std::string_view word = call.arguments[2];
  if (IsWord(word, "YES")) {
    if (!session.tracking->opt_in) {
      return Wrong("CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.");
    }
  } else if (IsWord(word, "NO")) {
    if (!session.tracking->opt_out) {
      return Wrong("CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.");
    }
  } else {
    return Wrong(kSyntaxError);
  }
  session.caching = true;
  call.reply.Simple("OK");
  return {};
}

Status ClientGetRedir(ClientCall& call) {
  call.reply.Int(ShownRedirect(call.service.tracking.Of(call.session.id)));
  return {};
}

Status ClientTrackingInfo(ClientCall& call) {
  const auto info = call.service.tracking.Of(call.session.id);
  const auto flags = info ? FlagsOf(*info, call.session.caching) : std::vector<std::string_view>{"off"};
  call.reply.Map(3).Bulk("flags").Set(flags.size());
  for (const std::string_view flag : flags) call.reply.Bulk(flag);
  call.reply.Bulk("redirect").Int(ShownRedirect(info)).Bulk("prefixes");
  call.reply.Array(info ? info->prefixes.size() : 0);
  if (!info) return {};
  for (const Bytes& prefix : info->prefixes) call.reply.Bulk(prefix);
  return {};
}

}  // namespace kvarts::resp
