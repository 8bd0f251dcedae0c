// HBase reads every file of a directory that Cellar wrote: all cells, every seek, every Bloom question.
//   ReadFiles DIRECTORY  (files.tsv: name, Bloom type, codec, description; beside each file its cells as NAME.jsonl)
// Prints "difference" lines and, last, "counted NUMBER WHAT" lines; exit status 1 when something differs.
package interop;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparatorImpl;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.ExtendedCell;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.regionserver.BloomQuestion;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.StoreFileReader;
import org.apache.hadoop.hbase.regionserver.StoreFileScanner;
import org.apache.hadoop.hbase.util.Bytes;

final class ReadFiles {
  private final Configuration conf;
  private final FileSystem fs;
  private final List<Compression.Algorithm> codecs = Settings.codecs();
  private final TreeMap<String, Long> counts = new TreeMap<>();
  private long differences;
  private String file; // under test, for messages
  private int inFile; // differences of that file

  private ReadFiles(Configuration conf) throws IOException {
    this.conf = conf;
    this.fs = Settings.files(conf);
  }

  private void count(String what, long by) {
    counts.merge(what, by, Long::sum);
  }

  private void differ(String what) {
    ++differences;
    if (++inFile <= 3) System.out.println("difference " + file + ": " + what);
  }

  private static int compareKeys(Cell a, Cell b) {
    return CellComparatorImpl.COMPARATOR.compare(a, b, true);
  }

  private static String text(Cell cell) {
    String line = cell == null ? "no cell" : Cells.stored(cell);
    return line.length() > 200 ? line.substring(0, 200) + "…" : line;
  }

  // All cells, compared with the lines beside the file.
  private List<KeyValue> scan(HFile.Reader reader, List<String> expected, boolean pread) throws IOException {
    List<KeyValue> cells = new ArrayList<>(expected.size());
    try (HFileScanner scanner = Releases.scanner(reader, conf, pread)) {
      for (boolean more = scanner.seekTo(); more; more = scanner.next()) {
        Cell cell = scanner.getCell();
        String line = Cells.stored(cell);
        if (cells.size() < expected.size() && !line.equals(expected.get(cells.size())))
          differ("cell " + cells.size() + " is " + text(cell) + ", written as " + expected.get(cells.size()));
        KeyValue copy = KeyValueUtil.copyToNewKeyValue(cell);
        copy.setSequenceId(((ExtendedCell) cell).getSequenceId());
        cells.add(copy);
      }
    }
    if (cells.size() != expected.size()) differ(cells.size() + " cells, written " + expected.size());
    if (reader.getEntries() != expected.size()) differ("getEntries says " + reader.getEntries());
    count("cells scanned", cells.size());
    return cells;
  }

  // The index of the first cell at or after the key.
  private static int lowerBound(List<KeyValue> cells, Cell key) {
    int low = 0;
    for (int high = cells.size(); low < high; ) {
      int middle = (low + high) >>> 1;
      if (compareKeys(cells.get(middle), key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Keys at and around a cell, existing or not.
  private static List<Cell> keysAround(KeyValue cell) {
    List<Cell> keys = new ArrayList<>();
    keys.add(cell);
    keys.add(PrivateCellUtil.createFirstOnRow(cell));
    keys.add(PrivateCellUtil.createLastOnRow(cell));
    keys.add(PrivateCellUtil.createFirstOnRowCol(cell));
    keys.add(PrivateCellUtil.createLastOnRowCol(cell));
    keys.add(PrivateCellUtil.createFirstOnRowColTS(cell, Math.max(0, cell.getTimestamp() - 1)));
    byte[] row = CellUtil.cloneRow(cell);
    keys.add(PrivateCellUtil.createFirstOnRow(Arrays.copyOf(row, Math.min(row.length + 1, Short.MAX_VALUE))));
    byte[] before = row.clone();
    --before[before.length - 1];
    keys.add(PrivateCellUtil.createFirstOnRow(before));
    return keys;
  }

  private void seek(HFile.Reader reader, List<KeyValue> cells) throws IOException, CloneNotSupportedException {
    int step = Math.max(1, cells.size() / 250); // of long files a part, of short ones each cell
    // In its own ROW_INDEX_V1 files too, HBase finds what is before the first place of a row only; it asks no more.
    boolean rowsOnly = reader.getDataBlockEncoding() == DataBlockEncoding.ROW_INDEX_V1;
    try (HFileScanner scanner = Releases.scanner(reader, conf, true)) {
      for (int i = 0; i < cells.size(); i += step) {
        // Without its sequence, by which a search key would come before what the index holds.
        KeyValue cell = cells.get(i).clone();
        cell.setSequenceId(0);
        if (scanner.seekTo(cell) != 0) differ("seekTo does not find " + text(cell));
        for (Cell key : keysAround(cell)) {
          int expected = lowerBound(cells, key);
          boolean found = StoreFileScanner.seekAtOrAfter(scanner, key);
          expectAt(found ? scanner.getCell() : null, cells, expected, "at or after", key);
          count("seeks", 1);
          if (rowsOnly && key.getTypeByte() != KeyValue.Type.Maximum.getCode()) continue;
          if (rowsOnly && key.getQualifierLength() + key.getFamilyLength() > 0) continue;
          boolean before = scanner.seekBefore(key);
          expectAt(before ? scanner.getCell() : null, cells, expected == 0 ? cells.size() : expected - 1, "before", key);
          count("seeks", 1);
        }
      }
    }
  }

  private void expectAt(Cell found, List<KeyValue> cells, int expected, String how, Cell key) {
    Cell wanted = expected < cells.size() ? cells.get(expected) : null;
    boolean same = found == null || wanted == null ? found == wanted : compareKeys(found, wanted) == 0;
    if (!same) differ("seek " + how + " " + key + " finds " + text(found) + ", should find " + text(wanted));
  }

  // From the last row to the first, as a reversed scan goes.
  private void walkBack(HStoreFile store, List<KeyValue> cells) throws IOException {
    List<byte[]> rows = rows(cells);
    try (StoreFileScanner scanner =
        store.getReader().getStoreFileScanner(false, true, false, Long.MAX_VALUE, 0, false)) {
      boolean more = scanner.seekToLastRow();
      for (int i = rows.size() - 1; i >= 0; --i) {
        if (!more || !CellUtil.matchingRows(scanner.peek(), rows.get(i))) {
          differ("backwards: row " + i + " is " + text(scanner.peek()) + ", should be " + Bytes.toStringBinary(rows.get(i)));
          return;
        }
        more = scanner.seekToPreviousRow(PrivateCellUtil.createFirstOnRow(rows.get(i)));
      }
      if (more) differ("backwards: a row before the first");
    }
    count("rows walked backwards", rows.size());
  }

  private static List<byte[]> rows(List<KeyValue> cells) {
    List<byte[]> rows = new ArrayList<>();
    for (KeyValue cell : cells) {
      if (rows.isEmpty() || !CellUtil.matchingRows(cell, rows.get(rows.size() - 1))) rows.add(CellUtil.cloneRow(cell));
    }
    return rows;
  }

  private void askBloom(StoreFileReader reader, BloomType type, List<KeyValue> cells) {
    if (reader.getBloomFilterType() != type) differ("Bloom type is " + reader.getBloomFilterType());
    for (KeyValue cell : cells) {
      byte[] row = CellUtil.cloneRow(cell);
      if (!BloomQuestion.mayHold(reader, row, CellUtil.cloneQualifier(cell))) differ("Bloom denies " + text(cell));
      if (cell.getTypeByte() == KeyValue.Type.DeleteFamily.getCode()
          && !reader.passesDeleteFamilyBloomFilter(row, 0, row.length)) {
        differ("the filter of deleted families denies " + text(cell));
      }
    }
    count("Bloom questions", cells.size());
    // A filter of prefixes believes in every row that has one.
    if ((type != BloomType.ROW && type != BloomType.ROWCOL) || cells.size() < 1000) return;
    int believed = 0;
    for (int i = 0; i < 1000; ++i) {
      // Inside the file's range of rows, of which there are others.
      byte[] row = Bytes.add(CellUtil.cloneRow(cells.get(i)), Bytes.toBytes("\u0001absent" + i));
      if (row.length < Short.MAX_VALUE && BloomQuestion.mayHold(reader, row, Bytes.toBytes("absent"))) ++believed;
    }
    count("Bloom questions for absent rows", 1000);
    count("Bloom questions for absent rows, answered with perhaps", believed);
    if (believed > 100) differ("Bloom believes in " + believed + " of 1000 absent rows");
  }

  private void check(java.nio.file.Path directory, String name, BloomType bloom)
      throws IOException, CloneNotSupportedException {
    List<String> expected = Files.readAllLines(directory.resolve(name + ".jsonl"), StandardCharsets.US_ASCII);
    Path path = new Path(directory.resolve(name).toUri());
    try (HFile.Reader reader = HFile.createReader(fs, path, new CacheConfig(conf), true, conf)) {
      List<KeyValue> cells = scan(reader, expected, false);
      scan(reader, expected, true);
      if (cells.size() != expected.size()) return;
      if (!cells.isEmpty()) {
        if (!CellUtil.matchingRows(cells.get(0), reader.getFirstRowKey().get())) differ("first row");
        if (!CellUtil.matchingRows(cells.get(cells.size() - 1), reader.getLastRowKey().get())) differ("last row");
        reader.midKey();
      }
      seek(reader, cells);
      HStoreFile store = Releases.storeFile(fs, path, conf, bloom);
      askBloom(store.getReader(), cells.isEmpty() ? BloomType.NONE : bloom, cells);
      if (!cells.isEmpty()) walkBack(store, cells);
      store.closeStoreFile(true);
    }
    // A block whose sum does not match is read again without it; that must not pass.
    long failures = HFile.getAndResetChecksumFailuresCount();
    if (failures != 0) differ(failures + " blocks whose checksum does not match");
    count("files", 1);
  }

  public static void main(String[] arguments) throws IOException {
    java.nio.file.Path directory = Paths.get(arguments[0]).toAbsolutePath();
    ReadFiles all = new ReadFiles(Settings.create());
    for (String line : Files.readAllLines(directory.resolve("files.tsv"))) {
      String[] fields = line.split("\t");
      all.file = fields[0] + " (" + fields[3] + ")";
      all.inFile = 0;
      if (all.codecs.stream().noneMatch(codec -> codec.name().equals(fields[2]))) {  // or this HBase has no such name
        all.count("files not read, for want of a codec in Java: " + fields[2], 1);
        continue;
      }
      try {
        all.check(directory, fields[0], BloomType.valueOf(fields[1]));
      } catch (Exception | LinkageError e) {
        all.differ("refused: " + e);
        for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) all.differ("  because: " + cause);
      }
    }
    all.counts.forEach((what, number) -> System.out.println("counted " + number + " " + what));
    System.out.println("counted " + all.differences + " differences");
    System.exit(all.differences == 0 ? 0 : 1);
  }
}
