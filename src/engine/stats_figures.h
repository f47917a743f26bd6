// The figures of an engine that tell whether it is well: the three amplifications and the share of tombstones, each
// with the value from which on it is worth a look.
#pragma once

#include <string_view>

#include "engine/stats.h"

namespace kvarts {

struct Figure {
  double value;
  double high;
  bool enough;  // data to say anything

  // "fine", "high", or that there is too little data.
  std::string_view Verdict() const;
};

Figure WriteFigure(const EngineStats& stats);
Figure ReadFigure(const EngineStats& stats);
Figure SpaceFigure(const EngineStats& stats);
Figure TombstoneFigure(const EngineStats& stats);

}  // namespace kvarts
