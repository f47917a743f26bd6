// How jemalloc keeps to a memory budget. Linked into every executable that uses it; a program that embeds Kvarts
// chooses its allocator, and its settings, for itself.
//
// By default what is freed stays resident for ten seconds. Write buffers, files being read and files being written are
// freed by the megabyte all the time, and would make a third of the budget's size again. From a megabyte on they are
// given back at once; smaller ones, which are soon allocated again, after a tenth of a second.
extern "C" {
const char* malloc_conf = "oversize_threshold:1048576,dirty_decay_ms:100,muzzy_decay_ms:0";
}
