// Result: a word of the public interface, and so of every layer.
#pragma once

#include "kvarts/result.h"  // IWYU pragma: export
