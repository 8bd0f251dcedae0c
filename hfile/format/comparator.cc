// Comparators of HFiles.
#include "hfile/format/comparator.h"

#include <algorithm>
#include <iterator>

namespace cellar {
namespace {

constexpr std::string_view kHBasePackage = "org.apache.hadoop.hbase.";  // of its classes

}  // namespace

bool is_meta_comparator(std::string_view name) {
  // KeyValue$MetaKeyComparator, KeyValue$MetaComparator, CellComparator$MetaCellComparator,
  // MetaCellComparator, …; and those of the -ROOT- table, whose rows have the same shape.
  const std::string_view simple = name.substr(name.find_last_of(".$") + 1);
  return name.starts_with(kHBasePackage) && (simple.starts_with("Meta") || simple.starts_with("Root"));
}

bool is_standard_comparator(std::string_view name) {
  constexpr std::string_view kNames[] = {"KeyValue$KVComparator", "KeyValue$KeyComparator", "CellComparator",
                                         "CellComparatorImpl", "InnerStoreCellComparator"};
  if (!name.starts_with(kHBasePackage)) return false;
  return std::ranges::find(kNames, name.substr(kHBasePackage.size())) != std::end(kNames);
}

bool is_loadable_comparator(std::string_view name) {
  constexpr std::string_view kMetaNames[] = {"KeyValue$MetaKeyComparator", "KeyValue$MetaComparator",
                                             "CellComparator$MetaCellComparator",
                                             "CellComparatorImpl$MetaCellComparator", "MetaCellComparator"};
  if (is_standard_comparator(name)) return true;
  return is_meta_comparator(name) &&
         std::ranges::find(kMetaNames, name.substr(kHBasePackage.size())) != std::end(kMetaNames);
}

}  // namespace cellar
