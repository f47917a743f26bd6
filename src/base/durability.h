// Durability: a word of the public interface, and so of every layer.
#pragma once

#include "kvarts/durability.h"  // IWYU pragma: export
