// Lines of operations (region.py describes them) as HBase's requests.
package interop;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.filter.Filter;
import org.apache.hadoop.hbase.filter.FuzzyRowFilter;
import org.apache.hadoop.hbase.filter.MultiRowRangeFilter;
import org.apache.hadoop.hbase.filter.ParseFilter;
import org.apache.hadoop.hbase.io.TimeRange;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.Pair;

final class Requests {
  private Requests() {}

  private static byte[] bytes(String text) {
    return Region.bytes(text);
  }

  private static byte[] value(String text) {
    return text.startsWith("#") ? Bytes.toBytes(Long.parseLong(text.substring(1))) : bytes(text);
  }

  private static long time(String text) {
    return text.equals("-") ? HConstants.LATEST_TIMESTAMP : Long.parseLong(text);
  }

  private static TimeRange range(String text) {
    if (text.equals("-")) return TimeRange.allTime();
    String[] ends = text.split("-");
    return TimeRange.between(Long.parseLong(ends[0]), Long.parseLong(ends[1]));
  }

  private static List<String[]> items(List<String> fields, int from, int parts) {
    List<String[]> items = new ArrayList<>();
    for (String each : fields.subList(from, fields.size())) items.add(each.split(":", parts));
    return items;
  }

  // ---- Mutations ----

  static Put put(List<String> fields) {
    Put put = new Put(bytes(fields.get(1)));
    for (String[] item : items(fields, 3, 4)) {
      if (item[2].equals("-")) put.addColumn(bytes(item[0]), bytes(item[1]), value(item[3]));
      else put.addColumn(bytes(item[0]), bytes(item[1]), time(item[2]), value(item[3]));
    }
    if (!fields.get(2).equals("-")) put.setTTL(Long.parseLong(fields.get(2)));
    return put;
  }

  static Delete delete(List<String> fields) {
    Delete delete = new Delete(bytes(fields.get(1)), time(fields.get(2)));
    for (String[] item : items(fields, 3, 4)) {
      byte[] family = bytes(item[1]);
      switch (item[0]) {
        case "version": delete.addColumn(family, bytes(item[2]), time(item[3])); break;
        case "latest": delete.addColumn(family, bytes(item[2]), HConstants.LATEST_TIMESTAMP); break;
        case "column": delete.addColumns(family, bytes(item[2]), time(item[3])); break;
        case "family": delete.addFamily(family, time(item[2])); break;
        case "familyversion": delete.addFamilyVersion(family, time(item[2])); break;
        default: throw new IllegalArgumentException(item[0]);
      }
    }
    return delete;
  }

  static Increment increment(List<String> fields) throws IOException {
    Increment increment = new Increment(bytes(fields.get(1)));
    if (!fields.get(4).equals("-")) increment.setTimestamp(time(fields.get(4))); // of columns added later
    for (String[] item : items(fields, 5, 3))
      increment.addColumn(bytes(item[0]), bytes(item[1]), Long.parseLong(item[2]));
    if (!fields.get(2).equals("-")) increment.setTTL(Long.parseLong(fields.get(2)));
    TimeRange range = range(fields.get(3));
    increment.setTimeRange(range.getMin(), range.getMax());
    return increment;
  }

  static Append append(List<String> fields) {
    Append append = new Append(bytes(fields.get(1)));
    if (!fields.get(4).equals("-")) append.setTimestamp(time(fields.get(4))); // of columns added later
    for (String[] item : items(fields, 5, 3)) append.addColumn(bytes(item[0]), bytes(item[1]), value(item[2]));
    if (!fields.get(2).equals("-")) append.setTTL(Long.parseLong(fields.get(2)));
    TimeRange range = range(fields.get(3));
    append.setTimeRange(range.getMin(), range.getMax());
    return append;
  }

  private static Mutation mutation(List<String> fields) throws IOException {
    switch (fields.get(0)) {
      case "put": return put(fields);
      case "delete": return delete(fields);
      case "increment": return increment(fields);
      case "append": return append(fields);
      default: throw new IllegalArgumentException(fields.get(0));
    }
  }

  static RowMutations mutations(List<String> fields) throws IOException {
    RowMutations all = new RowMutations(bytes(fields.get(1)));
    List<String> each = new ArrayList<>();
    for (String field : fields.subList(2, fields.size())) {
      if (!field.equals("|")) {
        each.add(field);
        continue;
      }
      all.add(mutation(each));
      each.clear();
    }
    return all;
  }

  static CheckAndMutate check(List<String> fields) throws IOException {
    CheckAndMutate.Builder check = CheckAndMutate.newBuilder(bytes(fields.get(1)));
    String condition = fields.get(3);
    if (condition.startsWith("filter=")) {
      check.ifMatches(filter(condition));
    } else {
      String[] parts = condition.split(":", 4);
      check.ifMatches(bytes(parts[0]), bytes(parts[1]), CompareOperator.valueOf(parts[2]), value(parts[3]));
    }
    check.timeRange(range(fields.get(2)));
    List<String> then = fields.subList(4, fields.size());
    switch (then.get(0)) {
      case "put": return check.build(put(then));
      case "delete": return check.build(delete(then));
      case "increment": return check.build(increment(then));
      case "append": return check.build(append(then));
      default: return check.build(mutations(then));
    }
  }

  // ---- Reads ----

  private static Filter filter(String field) throws IOException {
    String text = field.substring(field.indexOf('=') + 1);
    if (field.startsWith("filter=")) return new ParseFilter().parseFilterString(bytes(text));
    if (field.startsWith("fuzzy=")) {
      List<Pair<byte[], byte[]>> keys = new ArrayList<>();
      for (String key : text.split(",")) {
        byte[] mask = new byte[key.length()];
        for (int i = 0; i < mask.length; ++i) mask[i] = (byte) (key.charAt(i) == '?' ? 1 : 0);
        keys.add(new Pair<>(bytes(key.replace('?', '\0')), mask));
      }
      return new FuzzyRowFilter(keys);
    }
    List<MultiRowRangeFilter.RowRange> ranges = new ArrayList<>();
    for (String each : text.split(",")) {
      String[] parts = each.split(":", 4);
      ranges.add(new MultiRowRangeFilter.RowRange(
          bytes(parts[0]), parts[1].equals("i"), bytes(parts[2]), parts[3].equals("i")));
    }
    return new MultiRowRangeFilter(ranges);
  }

  static Get get(List<String> fields) throws IOException {
    Get get = new Get(bytes(fields.get(1)));
    get.setLoadColumnFamiliesOnDemand(true); // a server's default
    for (String field : fields.subList(2, fields.size())) {
      String[] option = field.split("=", 2);
      String[] parts = option[option.length - 1].split(":", 2);
      switch (option[0]) {
        case "family": get.addFamily(bytes(option[1])); break;
        case "column": get.addColumn(bytes(parts[0]), bytes(parts[1])); break;
        case "versions": get.readVersions(Integer.parseInt(option[1])); break;
        case "familylimit": get.setMaxResultsPerColumnFamily(Integer.parseInt(option[1])); break;
        case "familyoffset": get.setRowOffsetPerColumnFamily(Integer.parseInt(option[1])); break;
        case "range": get.setTimeRange(range(option[1]).getMin(), range(option[1]).getMax()); break;
        default: get.setFilter(filter(field));
      }
    }
    return get;
  }

  static Scan scan(List<String> fields) throws IOException {
    Scan scan = new Scan();
    scan.setLoadColumnFamiliesOnDemand(!fields.contains("reversed")); // HBase refuses both together
    for (String field : fields.subList(1, fields.size())) {
      String[] option = field.split("=", 2);
      String[] parts = option[option.length - 1].split(":", 2);
      switch (option[0]) {
        case "start": scan.withStartRow(bytes(parts[0]), parts[1].equals("i")); break;
        case "stop": scan.withStopRow(bytes(parts[0]), parts[1].equals("i")); break;
        case "reversed": scan.setReversed(true); break;
        case "raw": scan.setRaw(true); break;
        case "limit": break;
        case "batch": scan.setBatch(Integer.parseInt(option[1])); break;
        case "family": scan.addFamily(bytes(option[1])); break;
        case "column": scan.addColumn(bytes(parts[0]), bytes(parts[1])); break;
        case "versions": scan.readVersions(Integer.parseInt(option[1])); break;
        case "familylimit": scan.setMaxResultsPerColumnFamily(Integer.parseInt(option[1])); break;
        case "familyoffset": scan.setRowOffsetPerColumnFamily(Integer.parseInt(option[1])); break;
        case "range": scan.setTimeRange(range(option[1]).getMin(), range(option[1]).getMax()); break;
        default: scan.setFilter(filter(field));
      }
    }
    return scan;
  }

  static int limit(List<String> fields) {
    for (String field : fields) {
      if (field.startsWith("limit=")) return Integer.parseInt(field.substring(6));
    }
    return 0;
  }
}
