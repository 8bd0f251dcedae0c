// The pages of all error codes.
#include "tools/frame/error_pages.h"

#include <fmt/format.h>

#include <array>

#include "base/bytes.h"

namespace cellar {
namespace {

struct ErrorPage {
  std::string_view code;
  int exit;
  std::string_view meaning;  // one line
  std::string_view causes;
  std::string_view remedy;
};

// Sorted by code.
constexpr std::array kPages = {
    ErrorPage{"CEL-ABORTED", 3, "The operation was stopped before it was done.",
              "The store was closed while the operation ran, or an event listener of the program stopped it.",
              "Run the command again. Each write is atomic: it was made as a whole, or not at all."},
    ErrorPage{
        "CEL-BAD-LINE", 3, "A line of the input of `cellar load` is not a cell.",
        "The line is not JSON, has another number of fields than the first line, names a family that the\n"
        "  table does not have, or holds a cell beyond a limit. The place is FILE:LINE.",
        "Correct the line, or add --on-error skip: invalid lines are then reported and skipped. Batches\n"
        "  before the line are in the table already; loading the same cells again changes nothing."},
    ErrorPage{"CEL-BUSY", 3, "The operation waited for too long and gave up.",
              "Another write holds the lock of the row, or flushes and compactions cannot keep up with the\n"
              "  writes (options row_lock_wait_ms and stall_ms_max).",
              "Try again later. `cellar status STORE` shows the files that wait for a compaction."},
    ErrorPage{"CEL-CONFLICT", 3, "Somebody else changed the rows that a transaction relies on.",
              "Two transactions read and wrote the same rows at the same time.",
              "Begin a new transaction and repeat its reads and writes."},
    ErrorPage{
        "CEL-CORRUPTION", 3, "Stored bytes are not those that were written.",
        "A disk or memory fault, a file that was cut short, or a program that wrote into the file. Commands\n"
        "  that look at HFiles end with exit status 1 instead of 3.",
        "`cellar verify PATH` says which file, which block and which rows are damaged.\n"
        "  `cellar repair STORE --dry-run` says what can be rebuilt of a store that does not open.\n"
        "  `cellar salvage FILE -o NEW` keeps what is readable of an HFile. Restore the rest from a backup,\n"
        "  a snapshot or the source."},
    ErrorPage{
        "CEL-DURABILITY-UNKNOWN", 3, "The write was made, but it may not survive a crash.",
        "The operating system reported an error when the log was written to the disk.",
        "Check the disk. Read the row back after the store was opened again, and repeat the write if it is\n"
        "  missing."},
    ErrorPage{"CEL-FAMILY", 3, "The table has no column family of this name.",
              "The name is misspelled, or the family was never made.",
              "`cellar describe STORE TABLE` shows the families. `cellar alter STORE TABLE NAME` adds one."},
    ErrorPage{
        "CEL-HBASE-FILE", 3, "A file that HBase's directory refers to is missing.",
        "The directory was copied in part, or HBase removed the file meanwhile.",
        "Copy the whole table, or name a directory below HBase's root, so that its archive is found, too\n"
        "  (cellar help hbase)."},
    ErrorPage{"CEL-INTERNAL", 5, "A fault of the program itself.",
              "An error that the program does not expect, such as memory that ran out.",
              "Report it, with the command line and the output of `cellar version --format json`."},
    ErrorPage{"CEL-INTERRUPTED", 130,
              "The command was ended by SIGINT (Ctrl-C) or SIGTERM (exit status 143).",
              "Somebody pressed Ctrl-C, or the system ended the program.",
              "The message says what was done until then. Run the command again for the rest."},
    ErrorPage{
        "CEL-INVALID-ARGUMENT", 2, "An argument has a value that cannot be used.",
        "A time, number, column, row key or option is invalid, or arguments contradict each other.",
        "The message names the argument, and the hint says how to write it. `cellar COMMAND --help` shows\n"
        "  examples."},
    ErrorPage{"CEL-IO-ERROR", 3, "The operating system refused or failed to read or write.",
              "Missing permission, a directory where a file is expected, or a fault of the disk.",
              "The message quotes the operating system's reason. Check the path and its permissions."},
    ErrorPage{
        "CEL-LIMIT", 2, "Something is larger than a documented limit.",
        "A row key, cell, batch or name is too large; or an HFile asks for more memory than a file from\n"
        "  outside may have (exit status 1 then).",
        "Split the value or batch. `cellar help limits` shows the limits for HFiles and how to raise them."},
    ErrorPage{
        "CEL-LOCKED", 3, "Another process has the store open for writing.",
        "One process at a time may write a store: another `cellar` command, a shell, or an application.",
        "Close the other program, then try again. `fuser STORE/LOCK` names it. Commands that only read\n"
        "  (list, status, describe, get, scan, count, dump, export, checkpoint) need no lock, and neither\n"
        "  does `cellar shell --read-only`. A lock never outlives its process: there is no lock file to\n"
        "  remove."},
    ErrorPage{"CEL-NO-SPACE", 3, "The disk or a quota is full.",
              "The file system has no room for the output, the log or a new store file.",
              "Free some room, then run the command again. What was acknowledged before is safe."},
    ErrorPage{"CEL-NOT-FOUND", 3, "A file, snapshot, feed or other named thing does not exist.",
              "The name is misspelled, or it was removed.",
              "Check the name. `cellar list`, `cellar snapshot list` and `cellar feed list` show what a "
              "store has."},
    ErrorPage{
        "CEL-NOT-HFILE", 3, "The file is not an HFile.",
        "The path names a file of another kind, an empty file, or the remains of an HFile that was cut "
        "short\n"
        "  and has lost its trailer.",
        "Check the path. `cellar salvage FILE -o NEW` reads what is left of an HFile without a trailer."},
    ErrorPage{"CEL-NOT-MEASUREMENTS", 3, "The input of `cellar plot` holds no measurements.",
              "The file is not the JSON of Google Benchmark, nor lines of the benchmark driver.",
              "Write it with --benchmark_out=FILE --benchmark_out_format=json."},
    ErrorPage{
        "CEL-NOT-STORE", 3, "The path is not a Cellar store.",
        "The directory does not exist, is empty, or holds something else: for example the HFiles of a bulk\n"
        "  load, or a directory that lies above or below the store.",
        "Name the directory that holds the file CURRENT. `cellar create STORE TABLE FAMILY` makes a store\n"
        "  with its first table. For HFiles: inspect, verify, dump, stats and find."},
    ErrorPage{
        "CEL-NOT-SUPPORTED", 4, "The input is valid, but this build cannot read or do it.",
        "A codec or encoding that this build lacks, an encrypted file, a newer format, or a command that\n"
        "  only a cluster of HBase has.",
        "`cellar version` lists the codecs and encodings of this build. Codecs are chosen when Cellar is\n"
        "  built (CELLAR_WITH_…)."},
    ErrorPage{"CEL-NOT-TRACE", 3, "The file is not a block trace.",
              "The path names a file of another kind, or an empty one.",
              "Record a trace: CELLAR_ENGINE=block_trace=FILE in the environment of a command."},
    ErrorPage{"CEL-NOTHING-LEFT", 1, "The command would write a file without cells.",
              "A merge with --major dropped every cell, or no cell fits the conditions.",
              "Check the conditions. No file was written."},
    ErrorPage{"CEL-NOTHING-TO-DRAW", 1, "No measurement fits what `cellar plot` was asked for.",
              "--filter matches no name, or no measurement has all fields of --x, --y and --series.",
              "Choose other fields. The hint names some that exist."},
    ErrorPage{
        "CEL-READ-ONLY", 3, "The store, table or view takes no writes.",
        "The path is a snapshot, the table has the option read_only, the shell was started with "
        "--read-only,\n"
        "  or an earlier error of the disk made the store read-only.",
        "Write to the store itself; `cellar alter STORE TABLE --set read_only=false` opens a table for\n"
        "  writes. After an error of the disk, open the store again."},
    ErrorPage{"CEL-TABLE", 3, "The store has no table of this name.",
              "The name is misspelled, or the table was dropped. Names are case-sensitive.",
              "`cellar list STORE` shows the tables. `cellar create STORE TABLE FAMILY` makes one."},
    ErrorPage{
        "CEL-USAGE", 2, "The command line does not fit the command.",
        "An unknown command or option, a missing or unexpected argument, or options that exclude each other.",
        "The hint shows the nearest name or the usage. `cellar COMMAND --help` shows all arguments."},
};

}  // namespace

std::string help_of_error_code(std::string_view code) {
  for (const ErrorPage& page : kPages) {
    if (!same_but_for_case(page.code, code)) continue;
    return fmt::format("{}: {}\n\nexit status\n  {}\n\ncauses\n  {}\n\nwhat to do\n  {}\n", page.code,
                       page.meaning, page.exit, page.causes, page.remedy);
  }
  return {};
}

std::vector<std::string> error_codes() {
  std::vector<std::string> codes;
  for (const ErrorPage& page : kPages) codes.emplace_back(page.code);
  return codes;
}

std::string help_of_errors() {
  std::string text = "error codes: `cellar help CODE` shows the causes of one and what to do\n\n";
  for (const ErrorPage& page : kPages) text += fmt::format("  {:<23} {}\n", page.code, page.meaning);
  return text;
}

}  // namespace cellar
