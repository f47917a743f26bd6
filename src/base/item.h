// Item: a word of the public interface, and so of every layer.
#pragma once

#include "kvarts/item.h"  // IWYU pragma: export
