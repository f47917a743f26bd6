// Error and its codes: a word of the public interface, and so of every layer.
#pragma once

#include "kvarts/error.h"  // IWYU pragma: export
