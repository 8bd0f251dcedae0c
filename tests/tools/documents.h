// Documents: the project's Markdown files as tests see them, and what is generated into docs/.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace cellar::testing {

// README.md, CONTRIBUTING.md, CHANGELOG.md and everything below docs/, sorted.
std::vector<std::filesystem::path> documents();

std::string text_of(const std::filesystem::path& file);

// The blocks of a document that are fenced as this language.
std::vector<std::string> blocks_of(const std::string& text, const std::string& language);

// Fails unless the document (docs/options.md) holds this text; with CELLAR_REWRITE=1 it gets it. `./dev docs`
// is that.
void expect_generated(const std::string& document, const std::string& text);

// A row of a Markdown table.
std::string table_row(const std::vector<std::string>& fields);

}  // namespace cellar::testing
