// The pages of all codes of findings.
#include "tools/frame/finding_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"

namespace cellar {
namespace {

struct FindingPage {
  std::string_view code;
  std::string_view found;  // one line
  std::string_view meaning;
  std::string_view remedy;
};

// Remedies that several pages share.
constexpr std::string_view kSalvage =
    "`cellar salvage FILE -o NEW` copies the readable cells to a new file. "
    "Restore the rest from a backup or from the source of the data.";
constexpr std::string_view kNewFacts =
    "`cellar salvage FILE -o NEW` writes the same cells to a new file, with right facts.";
constexpr std::string_view kHarmless =
    "Nothing must be done. "
    "`cellar rewrite FILE -o NEW` writes a file without this finding.";
constexpr std::string_view kRestoreStore =
    "Restore the store from a checkpoint, a snapshot or a backup. "
    "If you have none, `cellar repair STORE --dry-run` tells what can be rebuilt and what would be lost.";

// Sorted by code: first the errors, then the warnings.
constexpr std::array kFindingPages = {
    FindingPage{"V-BLOOM", "A Bloom filter of the file is damaged or missing.",
                "All cells are there. "
                "Reads do without the damaged part of the filter: they find everything, but take longer.",
                "`cellar rewrite FILE -o NEW` builds new filters. "
                "In a store, `cellar compact STORE TABLE --major` does so."},
    FindingPage{"V-BLOOM-MISS", "A Bloom filter denies keys that the file holds.",
                "The cells are there, but a read that asks the filter does not find them.",
                "`cellar rewrite FILE -o NEW` builds new filters. "
                "In a store, `cellar compact STORE TABLE --major` does so."},
    FindingPage{"V-CELL", "A cell of a data block cannot be decoded.",
                "The rest of its block cannot be read. "
                "Cells of the rows at risk may be lost.",
                kSalvage},
    FindingPage{"V-CHECKSUM", "The bytes of a block do not fit the checksum that the block carries.",
                "A disk, memory or a program changed the bytes. "
                "The cells of a damaged data block are lost, and reads of its rows fail.",
                kSalvage},
    FindingPage{"V-CODEC", "A block cannot be decompressed.",
                "Its bytes were damaged before their checksum was made, or they have no checksum. "
                "The cells of the block are lost.",
                kSalvage},
    FindingPage{"V-COUNT", "The file has another number of cells than its trailer names.",
                "Every block is readable, but cells are missing or stand in the file twice. "
                "It is also possible that only the trailer is wrong.",
                "Compare the rows with a backup or with the source of the data. "
                "`cellar salvage FILE -o NEW` writes a file with a right trailer."},
    FindingPage{"V-CURRENT", "The file CURRENT of a store is missing, or something else has its name.",
                "The store does not open, because CURRENT names its manifest. "
                "The store files and the log may be complete.",
                kRestoreStore},
    FindingPage{"V-DELETE-COUNT", "The file info counts other delete markers for families than the file has.",
                "Readers rely on a count of zero and then ignore such markers. "
                "Deleted cells may therefore become visible.",
                kNewFacts},
    FindingPage{
        "V-DIRECTORY", "A directory of a store cannot be used, or has the name of a file of the store.",
        "The store does not open, or takes no writes. "
        "The files in its other directories are not affected.",
        "The message names the directory. "
        "Give it back its place and permissions, or move it away if it does not belong to the store."},
    FindingPage{"V-EARLIEST-PUT", "The file info names a later time of the earliest put than the file has.",
                "HBase removes delete markers by this time, and deleted cells may reappear there. "
                "Cellar does not use it.",
                kNewFacts},
    FindingPage{"V-ENCODING", "The cells of a data block do not begin as their encoding requires.",
                "No cell of the block can be read. "
                "Cells of the rows at risk are lost.",
                kSalvage},
    FindingPage{"V-FILE-MISSING", "A store file that the manifest names is missing.",
                "The store does not open, and the cells of this file are lost. "
                "All other files are not affected.",
                kRestoreStore},
    FindingPage{"V-HEADER", "No block begins where one must begin.",
                "Verification continues at the next known block. "
                "The cells between these places are lost.",
                kSalvage},
    FindingPage{"V-INDEX", "The block index is damaged, or names a wrong size of a block.",
                "Reads through the damaged part fail. "
                "The data blocks may all be sound.",
                "`cellar salvage FILE -o NEW` reads the data blocks without the index and builds a new one."},
    FindingPage{"V-INDEX-GAP", "The block index and the data blocks of the file do not agree.",
                "Reads never see the cells of a block that the index leaves out. "
                "They fail where the index names a block that does not exist.",
                "`cellar salvage FILE -o NEW` reads the data blocks without the index and builds a new one."},
    FindingPage{"V-INDEX-KEY", "A key of the block index does not separate two neighbouring blocks.",
                "A search near this key may go to the wrong block and miss cells that are there.",
                "`cellar salvage FILE -o NEW` reads the data blocks without the index and builds a new one."},
    FindingPage{"V-INFO", "An entry of the file info is missing or invalid.",
                "HBase does not open the file, or reads it wrongly. "
                "The cells are not affected.",
                kNewFacts},
    FindingPage{"V-LASTKEY", "The entry hfile.LASTKEY is not the key of the last cell.",
                "Reads rely on it as the end of the file and may miss the cells after it.", kNewFacts},
    FindingPage{"V-LOCK", "The file LOCK of a store cannot be opened.",
                "The store does not open, because no process can lock it. "
                "Its data is not affected.",
                "Grant the permission that is missing, or move away what has the name LOCK. "
                "The next open of the store makes the file again."},
    FindingPage{"V-LOG", "The write-ahead log of a store is damaged, or a segment of it is missing.",
                "The store does not open. "
                "Writes that no store file holds yet may be lost, and so may the log of a feed.",
                kRestoreStore},
    FindingPage{"V-MANIFEST", "A store file or an option is not as the manifest requires.",
                "The store does not open. "
                "The message names the file or the family.",
                kRestoreStore},
    FindingPage{"V-META", "A meta block is not at the place that the meta index names.",
                "Programs that ask for this metadata do not get it. "
                "The cells are not affected.",
                kNewFacts},
    FindingPage{"V-OFFSETS", "The trailer names other places of the first and last data block.",
                "HBase begins and ends its scans at these places and may miss cells. "
                "Cellar does not use them.",
                kNewFacts},
    FindingPage{"V-OPEN", "The file does not open, because a part that is read first is damaged.",
                "The trailer is readable, but no read can begin without the damaged part. "
                "The data blocks may all be sound.",
                kSalvage},
    FindingPage{"V-ORDER", "Cells of the file are not in order.",
                "Reads rely on the order. "
                "They may miss cells, or return values that are not the newest.",
                "`cellar salvage FILE -o NEW` keeps the cells that are in order and counts the others. "
                "Restore these from a backup or from the source of the data."},
    FindingPage{"V-PLACE", "A block is whole, but it was not written at this place of this file.",
                "The disk lost a write, or wrote a block to the wrong place. "
                "The cells that belong here are lost.",
                kSalvage},
    FindingPage{"V-SECTION", "A block of a wrong kind is among the blocks that are read on opening.",
                "Cellar does not use the block. "
                "HBase may not open the file.",
                kNewFacts},
    FindingPage{"V-SEEK", "A search through the block index does not find a cell of the file.",
                "Gets, and scans that begin at this cell, miss it. "
                "Scans from an earlier row return it.",
                "`cellar salvage FILE -o NEW` reads the data blocks without the index and builds a new one."},
    FindingPage{"V-SEQUENCE", "A cell has a sequence that the manifest excludes for its store file.",
                "Its block is from another file or from an earlier time. "
                "The cells that belong there are lost.",
                kSalvage},
    FindingPage{"V-TIMERANGE", "The file has cells outside the range of times in its file info.",
                "Reads of a range of times leave out the file by this entry and may miss its cells.",
                kNewFacts},
    FindingPage{"V-TRAILER", "The trailer at the end of the file is damaged or missing.",
                "The file lost its end, or something was written over it. "
                "No read can begin without the trailer, but the data blocks may all be sound.",
                kSalvage},
    FindingPage{"W-AVERAGES", "The file info names other average sizes of keys or values.",
                "HBase uses the averages for estimates. "
                "The cells are not affected.",
                kHarmless},
    FindingPage{"W-BLOOM-BITS", "A Bloom filter has bits that no key of the file sets.",
                "Reads find all cells. "
                "They look into the file more often than they must.",
                kHarmless},
    FindingPage{"W-BLOOM-COUNT", "A Bloom filter counts another number of keys than the file has.",
                "Reads do not use the count, and they find all cells.", kHarmless},
    FindingPage{"W-BLOOM-IGNORED", "A Bloom filter of the file is not used.",
                "The filter is damaged, or of a kind that this build does not have. "
                "Reads find all cells, but take longer.",
                "Nothing must be done. "
                "`cellar rewrite FILE -o NEW --bloom row` builds a new filter."},
    FindingPage{"W-COMPARATOR", "The trailer names a comparator that HBase 2 does not have.",
                "HBase does not open the file. "
                "Cellar assumes the standard order, or that of hbase:meta.",
                "`cellar rewrite FILE -o NEW` writes a file for HBase. "
                "It refuses cells that do not have the standard order."},
    FindingPage{"W-COMPARATOR-OLD", "The trailer names the comparator as HBase did before 2.0.",
                "The order is the same. "
                "Cellar and HBase 2 read the file.",
                kHarmless},
    FindingPage{"W-DEEP-INDEX", "The block index has more than two levels.",
                "A get that finds nothing in the cache reads a block of each level first.",
                "Nothing must be done. "
                "`cellar rewrite FILE -o NEW --block-size 128k` makes fewer blocks, and so a smaller index."},
    FindingPage{"W-FAMILIES", "The file has cells of more than one family.",
                "HBase expects one family per file and does not find the cells of the others. "
                "Cellar reads all of them.",
                "`cellar filter FILE -o NEW --column FAMILY` writes the cells of one family."},
    FindingPage{"W-INDEX-KEY", "Keys of the block index are rows without family, timestamp and type.",
                "Cellar reads the file. "
                "HBase cannot search it.",
                "`cellar rewrite FILE -o NEW` writes a file for HBase."},
    FindingPage{"W-MVCC", "MAX_MEMSTORE_TS_KEY is not the largest sequence of the cells.",
                "Readers ignore the sequences of the cells if the entry is 0. "
                "Any other value changes nothing for them.",
                kHarmless},
    FindingPage{"W-NO-AVERAGES", "The file info lacks the average sizes of keys or values.",
                "Cellar reads the file. "
                "HBase refuses it.",
                "`cellar rewrite FILE -o NEW` writes a file for HBase."},
    FindingPage{"W-NO-CREATE-TIME", "The file info does not tell when the file was made.",
                "Only reports show this time. "
                "The cells are not affected.",
                kHarmless},
    FindingPage{"W-NO-LASTKEY", "The file info lacks the entry hfile.LASTKEY.",
                "Cellar takes the last key from the last block. "
                "HBase cannot bulk-load the file.",
                "`cellar rewrite FILE -o NEW` writes a file for HBase."},
    FindingPage{"W-PLUGIN", "The file has an encoding or a Bloom filter that only Cellar has.",
                "Cellar reads the file. "
                "HBase does not open it.",
                "`cellar rewrite FILE -o NEW --encoding none --bloom row` writes a file for HBase."},
    FindingPage{"W-PREV", "Blocks do not name the block of their kind before them.",
                "HBase goes backwards by these pointers, as in a reverse scan. "
                "Cellar does not use them.",
                "`cellar rewrite FILE -o NEW` writes a file for HBase."},
    FindingPage{"W-TAGS", "The entry hfile.MAX_TAGS_LEN is not the length of the longest tags.",
                "Readers use only whether the entry exists. "
                "The cells are not affected.",
                kHarmless},
    FindingPage{"W-TOTALS", "The trailer names other sizes of the blocks or of the index.",
                "HBase reports the size of a store by them. "
                "No read uses them.",
                kHarmless},
    FindingPage{"W-UNCHECKED", "The blocks of the file have no checksums.",
                "Damage can stay unnoticed: a read may return wrong cells.",
                "`cellar rewrite FILE -o NEW` writes a file with checksums. "
                "Compare its cells with the source of the data where possible."}};

constexpr size_t kPageColumns = 98;

// Returns the text as indented lines, broken between words.
std::string indented(std::string_view text) {
  std::string lines;
  std::string line = " ";
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (line.size() + 1 + word.size() > kPageColumns) {
      lines += line + "\n";
      line = " ";
    }
    line += ' ';
    line += word;
    begin = end + 1;
  }
  return lines + line + "\n";
}

bool is_error(const FindingPage& page) { return page.code.starts_with("V-"); }

}  // namespace

std::string help_of_finding_code(std::string_view code) {
  for (const FindingPage& page : kFindingPages) {
    if (!same_but_for_case(page.code, code)) continue;
    const std::string_view severity =
        is_error(page) ? "error: `cellar verify` ends with exit status 1"
                       : "warning: the file is readable, and `cellar verify` ends with exit status 0";
    return fmt::format("{}: {}\n\nseverity\n  {}\n\nwhat it means\n{}\nwhat to do\n{}", page.code, page.found,
                       severity, indented(page.meaning), indented(page.remedy));
  }
  return {};
}

std::vector<std::string> finding_codes() {
  std::vector<std::string> codes;
  for (const FindingPage& page : kFindingPages) codes.emplace_back(page.code);
  return codes;
}

std::string help_of_findings() {
  std::string text = "findings of verify, inspect, find and bulkload: `cellar help CODE` explains one\n";
  for (const bool errors : {true, false}) {
    text += errors ? "\nerrors: the file or store is damaged\n" : "\nwarnings: the file is readable\n";
    for (const FindingPage& page : kFindingPages)
      if (is_error(page) == errors) text += fmt::format("  {:<17} {}\n", page.code, page.found);
  }
  return text;
}

}  // namespace cellar
