// LiveStore: opens a store for reading while another process may write it.
#pragma once

#include <functional>
#include <string>

#include "cellar/file_system.h"
#include "cellar/status.h"
#include "engine/store/world.h"

namespace cellar {

// Returns a text that describes the state of the store in `root`. The text changes with each edit of the
// manifest, and when a segment of the log is made, cut or removed. Appended records alone do not change it.
// The text is empty if there is no store. The function makes no writing call.
std::string store_mark(Directory& root);

// Calls `attempt`, which opens the store of `world` and fails as at any store, until it succeeds or until its
// failure counts. `world` is only asked after the first attempt.
//
// A reader meets the files one after the other, and a writer goes on meanwhile. The manifest that was read
// may name files that a compaction has removed before HeldStore opened them, and half a record may end the
// log. Nothing is wrong then: at each moment all files together are a whole store. But a store whose mark
// stays the same over several attempts is damaged. The last failure is returned then, and also if the store
// is gone, or if its writer was faster than a great number of attempts. Waits some milliseconds between two.
Status open_live_store(const std::function<Status()>& attempt, const std::function<const World&()>& world);

}  // namespace cellar
