#!/usr/bin/env bash
# Articles, their history, categories and redirects: examples/articles/run.sh [BUILD_DIRECTORY [STORE]]
program=example_articles
source "$(dirname "${BASH_SOURCE[0]}")/../application.sh"

application

say "Categories and redirects"
"$build/example_article_categories" "${store}_categories"

say "The same stores with the program cellar"
show count "$store" article_versions
show count "$store" article_revisions
show scan "${store}_categories" categories --limit 2
show scan "${store}_categories" redirects
