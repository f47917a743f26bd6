#include "metamorphic/steps.h"

#include <random>

namespace kvarts::test {
namespace {

// Keys are few, so that operations meet: a letter and up to two bytes at the edges of byte order. Everything under "o"
// is owned; "i" and "w" may be given profiles; "s" holds stamped keys.
constexpr std::string_view kLetters = "aaiosww";
constexpr char kBytes[] = {'\0', '1', '2', '\xff'};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  Step Next();
  Step Assign();

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  template <class T>
  T OneOf(std::initializer_list<T> choices) {
    return *(choices.begin() + Below(choices.size()));
  }

  KeyName Key(std::string_view letters = kLetters);
  RangeStep Range();
  Duration Ahead() { return Duration::Micros(OneOf({0, 1, 2, 1000, 5'000'000, 90'000'000})); }
  int Slot() { return static_cast<int>(Below(kSlots)); }
  Bytes Value();
  VersionName AnyVersion();
  PreconditionStep Precondition();
  MutationStep Put();
  MutationStep Mutate();
  CommitStep Commit();
  Step Scan();

  std::mt19937_64 random_;
};

KeyName Generator::Key(std::string_view letters) {
  KeyName key;
  key.text = letters[Below(letters.size())];
  if (key.text == "s") {
    key.text += '/';
    key.stamped_by = static_cast<int>(Below(12));
    return key;
  }
  for (uint64_t n = Below(3); n > 0; --n) key.text += kBytes[Below(std::size(kBytes))];
  return key;
}

RangeStep Generator::Range() {
  RangeStep range;
  if (OneIn(4)) {
    range.start.text = kLetters[Below(kLetters.size())];
    range.end.text = PrefixEnd(range.start.text);
    return range;
  }
  if (!OneIn(6)) range.start = Key();
  if (!OneIn(6)) range.end = Key();
  return range;
}

Bytes Generator::Value() {
  if (OneIn(60)) return Bytes(20'000 + Below(50'000), static_cast<char>('a' + Below(26)));
  return Bytes(Below(20), static_cast<char>('a' + Below(26)));
}

VersionName Generator::AnyVersion() {
  if (OneIn(2)) return {VersionName::Of::kCurrent, 0};
  if (OneIn(2)) return {VersionName::Of::kView, static_cast<size_t>(Slot())};
  return {VersionName::Of::kCommit, Below(10)};
}

PreconditionStep Generator::Precondition() {
  using Kind = Precondition::Kind;
  PreconditionStep step;
  step.kind = OneOf({Kind::kAbsent, Kind::kPresent, Kind::kVersionIs, Kind::kRangeUnchanged});
  step.from_read = OneIn(2);
  step.version = AnyVersion();
  if (OneIn(5)) step.lapses_in = Ahead();
  if (step.kind == Kind::kRangeUnchanged) {
    const RangeStep range = Range();
    step.key = range.start;
    step.end = range.end;
    return step;
  }
  step.expired_too = OneIn(4);
  step.key = Key(step.expired_too ? "o" : kLetters);
  return step;
}

MutationStep Generator::Put() {
  MutationStep step;
  step.key = Key();
  Mutation& put = step.what;
  put.value = Value();
  put.kind = OneOf({ValueKind::kBytes, ValueKind::kBytes, ValueKind::kEnvelope, ValueKind::kCounter});
  if (put.kind == ValueKind::kCounter) {
    put.value = CounterValue(OneOf<int64_t>({0, 5, -7, INT64_MAX - 1, INT64_MIN + 1}));
  }
  put.owned = step.key.text.starts_with("o") || OneIn(8);
  put.schema = static_cast<uint32_t>(Below(3));
  if (OneIn(2)) step.expires_in = Ahead();
  if (put.kind != ValueKind::kCounter && OneIn(6)) {
    put.value = "V........" + put.value;
    put.value_stamp = 1;
  }
  if (step.key.text == "s/" && OneIn(2)) {
    step.key = {.text = "s/........", .stamped_by = -1};
    put.key_stamp = 2;
  }
  return step;
}

MutationStep Generator::Mutate() {
  MutationStep step;
  switch (Below(10)) {
    case 0:
    case 1:
      step.what.op = Mutation::Op::kErase;
      step.key = Key();
      return step;
    case 2:
    case 3:
    case 4:
      step.what.op = Mutation::Op::kAdd;
      step.what.delta = OneOf<int64_t>({0, 1, -1, 1000, INT64_MAX, INT64_MIN});
      step.key = Key();
      return step;
    case 5: {
      if (!OneIn(3)) return Put();
      const RangeStep range = Range();
      step.what.op = Mutation::Op::kEraseRange;
      step.what.reclaim = OneIn(4);
      step.key = range.start;
      step.end = range.end;
      return step;
    }
    default:
      return Put();
  }
}

CommitStep Generator::Commit() {
  CommitStep commit;
  for (uint64_t n = 1 + Below(4); n > 0; --n) commit.mutations.push_back(Mutate());
  if (OneIn(20)) commit.mutations.clear();
  if (OneIn(3)) {
    for (uint64_t n = 1 + Below(2); n > 0; --n) commit.preconditions.push_back(Precondition());
  }
  if (OneIn(3)) {
    commit.slot = OneIn(2) ? kNoSlot : Slot();
    for (uint64_t n = Below(3); n > 0; --n) commit.reads.push_back(Key());
    for (uint64_t n = Below(2); n > 0; --n) commit.scans.push_back(Range());
    commit.summary = Key("aiow");
    commit.runs_again = OneIn(2);
    commit.run_first = commit.runs_again && OneIn(3);
    // What is run in the engine has read nothing that could be untrue.
    for (PreconditionStep& step : commit.preconditions) step.from_read &= !commit.runs_again;
  }
  commit.durability = OneIn(12) ? Durability::kSync : OneOf({Durability::kNone, Durability::kInterval});
  return commit;
}

Step Generator::Scan() {
  Step step;
  step.kind = Step::Kind::kScan;
  step.slot = OneIn(2) ? kNoSlot : Slot();
  step.range = Range();
  step.expired_too = OneIn(4);
  step.request.reverse = OneIn(2);
  step.request.keys_only = OneIn(4);
  step.request.max_entries = OneOf<size_t>({1, 2, 3, 7, 1000});
  step.request.max_bytes = OneOf<size_t>({1, 20, 100, 1 << 20});
  return step;
}

Step Generator::Next() {
  const uint64_t dice = Below(100);
  Step step;
  if (dice < 40) {
    step.kind = Step::Kind::kSubmit;
    for (uint64_t n = OneIn(3) ? 1 + Below(5) : 1; n > 0; --n) step.commits.push_back(Commit());
  } else if (dice < 55) {
    step.kind = Step::Kind::kGet;
    step.slot = OneIn(2) ? kNoSlot : Slot();
    step.expired_too = OneIn(4);
    for (uint64_t n = 1 + Below(5); n > 0; --n) step.keys.push_back(Key());
  } else if (dice < 75) {
    step = Scan();
  } else if (dice < 85) {
    step.kind = OneIn(4) ? Step::Kind::kCloseView : Step::Kind::kOpenView;
    step.slot = Slot();
  } else if (dice < 97) {
    step.kind = Step::Kind::kAdvance;
    step.by = Ahead();
  } else if (dice < 99) {
    step.kind = Step::Kind::kCompact;
    step.range = Range();
  } else {
    step.kind = OneIn(2) ? Step::Kind::kReopen : Step::Kind::kAssign;
    step.range = Range();
    step.profile = OneOf({Profile::kIngest, Profile::kWindow});
  }
  return step;
}

Step Generator::Assign() {
  Step step;
  step.kind = Step::Kind::kAssign;
  step.profile = OneOf({Profile::kIngest, Profile::kWindow});
  step.range.start.text = OneOf({"i", "w", "w1"});
  step.range.end.text = OneOf({"j", "x", ""});
  return step;
}

std::string Describe(const KeyName& key) {
  std::string text = Escaped(key.text);
  if (key.stamped_by >= 0) text += "<commit -" + std::to_string(key.stamped_by) + ">";
  return text;
}

std::string Describe(const KeyName& start, const KeyName& end) {
  return "[" + Describe(start) + ", " + Describe(end) + ")";
}

std::string Describe(const VersionName& version) {
  if (version.of == VersionName::Of::kCurrent) return "current";
  const char* of = version.of == VersionName::Of::kView ? "view " : "commit -";
  return of + std::to_string(version.number);
}

std::string In(const char* what, Duration ahead) {
  if (ahead.micros < 0) return "";
  return std::string(" ") + what + " in " + std::to_string(ahead.micros) + "us";
}

std::string Describe(const PreconditionStep& step) {
  static constexpr const char* kKinds[] = {"absent ", "present ", "version ", "unchanged "};
  std::string text = step.from_read ? "read " : "if ";
  text += kKinds[static_cast<size_t>(step.kind)];
  const bool range = step.kind == Precondition::Kind::kRangeUnchanged;
  text += range ? Describe(step.key, step.end) : Describe(step.key);
  if (range || step.kind == Precondition::Kind::kVersionIs) text += " @" + Describe(step.version);
  if (step.expired_too) text += " expired too";
  return text + In("lapses", step.lapses_in);
}

std::string Describe(const MutationStep& step) {
  const Mutation& what = step.what;
  switch (what.op) {
    case Mutation::Op::kErase:
      return "erase " + Describe(step.key);
    case Mutation::Op::kEraseRange:
      return (what.reclaim ? "reclaim " : "erase ") + Describe(step.key, step.end);
    case Mutation::Op::kAdd:
      return "add " + Describe(step.key) + " " + std::to_string(what.delta);
    case Mutation::Op::kPut:
      break;
  }
  std::string text = what.owned ? "put owned " : "put ";
  text += Describe(step.key) + " ";
  if (what.kind == ValueKind::kCounter) {
    text += "counter " + std::to_string(LoadLittle<int64_t>(what.value.data()));
  } else {
    text += "\"" + Escaped(what.value.substr(0, 16)) + "\" " + std::to_string(what.value.size()) + " bytes";
  }
  return text + In("expires", step.expires_in);
}

std::string Describe(const CommitStep& step) {
  std::string text = "\n      commit " + std::string(DurabilityName(step.durability));
  const char* view = step.slot == kNoSlot ? "" : " (old view)";
  for (const KeyName& key : step.reads) text += "; get " + Describe(key) + view;
  for (const RangeStep& range : step.scans) text += "; scan " + Describe(range.start, range.end) + view;
  if (step.run_first) text += "; run first";
  if (step.runs_again) text += "; runs again";
  if (!step.summary.text.empty()) text += "; summary to " + Describe(step.summary);
  for (const PreconditionStep& precondition : step.preconditions) text += "; " + Describe(precondition);
  for (const MutationStep& mutation : step.mutations) text += "; " + Describe(mutation);
  return text;
}

}  // namespace

std::vector<Step> MakeSteps(uint64_t seed, size_t count) {
  Generator generator(seed);
  std::vector<Step> steps = {generator.Assign(), generator.Assign()};
  while (steps.size() < count) steps.push_back(generator.Next());
  return steps;
}

std::string Describe(const Step& step) {
  const std::string view = step.slot == kNoSlot ? "newest" : "view " + std::to_string(step.slot);
  const std::string expired = step.expired_too ? " expired too" : "";
  std::string text;
  switch (step.kind) {
    case Step::Kind::kAdvance:
      return "advance " + std::to_string(step.by.micros) + "us";
    case Step::Kind::kOpenView:
      return "open " + view;
    case Step::Kind::kCloseView:
      return "close " + view;
    case Step::Kind::kGet:
      text = "get at " + view + expired + ":";
      for (const KeyName& key : step.keys) text += " " + Describe(key);
      return text;
    case Step::Kind::kScan:
      return "scan at " + view + " " + Describe(step.range.start, step.range.end) + expired +
             (step.request.reverse ? " backwards" : "") + (step.request.keys_only ? " keys" : "") + " by " +
             std::to_string(step.request.max_entries) + "/" + std::to_string(step.request.max_bytes);
    case Step::Kind::kSubmit:
      text = "submit";
      for (const CommitStep& commit : step.commits) text += Describe(commit);
      return text;
    case Step::Kind::kCompact:
      return "compact " + Describe(step.range.start, step.range.end);
    case Step::Kind::kReopen:
      return "reopen";
    case Step::Kind::kAssign:
      return "assign " + std::string(ProfileName(step.profile)) + " to " + Describe(step.range.start, step.range.end);
  }
  return text;
}

}  // namespace kvarts::test
