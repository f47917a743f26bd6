// Version: a word of the public interface, and so of every layer.
#pragma once

#include "kvarts/version.h"  // IWYU pragma: export
