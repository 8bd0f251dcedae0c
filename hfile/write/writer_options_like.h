// How a file like another one is written, and what it takes over.
#pragma once

#include "hfile/read/hfile_reader.h"
#include "hfile/write/hfile_writer.h"

namespace cellar {

// Returns options that give a file of the same form. The form is the codec and its framing, encoding, Bloom
// filter and its hash, tags and their dictionary, sequences, comparator. Block sizes stand in no file and are
// the defaults. Error: kIoError.
Result<HFileWriterOptions> writer_options_like(const HFileReader& file);

// Gives `to` the facts of `from` that hold for any file with the same cells: sequence, bulk-load marks, the
// application's own entries and meta blocks.
Status copy_facts(const HFileReader& from, HFileWriter& to);

}  // namespace cellar
