#include "protocol/http/service.h"

namespace kvarts::http {
namespace {

TopKeys::Options HotOptions(Catalog& catalog) {
  TopKeys::Options options;
  options.cut = [&catalog](BytesView key, PrefixEnds* ends) { return CutAtPartition(catalog.cached(), key, ends); };
  options.group = [&catalog](BytesView key) { return NamespaceOf(catalog.cached(), key); };
  return options;
}

}  // namespace

LoopState::LoopState(const Clock& clock, Catalog& catalog, NamespacePlaces& places, net::Loop& loop, Engine& engine)
    : reads(std::make_unique<LoopReads>(loop, engine)),
      date(clock.Now()),
      namespaces(places),
      hot(clock, HotOptions(catalog)) {}

}  // namespace kvarts::http
