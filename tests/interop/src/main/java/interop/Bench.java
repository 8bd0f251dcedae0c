// HBase's side of the comparison of speed: cells in memory become a file, and the file is scanned, in one thread.
//   Bench DIRECTORY ROUNDS  (reads the cells from DIRECTORY/cellar-none; leaves DIRECTORY/hbase-CODEC behind)
package interop;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.ExtendedCell;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;

final class Bench {
  private static final Configuration CONF = Settings.create();

  private Bench() {}

  // As a flush writes: blocks of 64 KiB, a row filter, MVCC.
  private static void write(FileSystem fs, Path path, Compression.Algorithm codec, List<KeyValue> cells)
      throws IOException {
    HFileContextBuilder context =
        new HFileContextBuilder().withCompression(codec).withBlockSize(65536).withIncludesMvcc(true)
            .withIncludesTags(false).withHBaseCheckSum(true);
    StoreFileWriter writer = new StoreFileWriter.Builder(CONF, new CacheConfig(CONF), fs).withFilePath(path)
        .withBloomType(BloomType.ROW).withMaxKeyCount(cells.size()).withFileContext(context.build()).build();
    for (KeyValue cell : cells) writer.append(cell);
    writer.appendMetadata(1, false);
    writer.close();
  }

  // What a reader looks at: sizes of row, qualifier and value, and the time.
  private static long lookedAt(Cell cell) {
    return cell.getRowLength() + cell.getQualifierLength() + cell.getValueLength() + (cell.getTimestamp() & 1);
  }

  private static long scan(FileSystem fs, Path path) throws IOException {
    long bytes = 0;
    try (HFile.Reader reader = HFile.createReader(fs, path, new CacheConfig(CONF), true, CONF);
        HFileScanner scanner = Releases.scanner(reader, CONF, false)) {
      for (boolean more = scanner.seekTo(); more; more = scanner.next()) {
        bytes += lookedAt(scanner.getCell());
      }
    }
    return bytes;
  }

  private static List<KeyValue> load(FileSystem fs, Path path) throws IOException {
    List<KeyValue> cells = new ArrayList<>();
    try (HFile.Reader reader = HFile.createReader(fs, path, new CacheConfig(CONF), true, CONF);
        HFileScanner scanner = Releases.scanner(reader, CONF, false)) {
      for (boolean more = scanner.seekTo(); more; more = scanner.next()) {
        KeyValue copy = KeyValueUtil.copyToNewKeyValue(scanner.getCell());
        copy.setSequenceId(((ExtendedCell) scanner.getCell()).getSequenceId());
        cells.add(copy);
      }
    }
    return cells;
  }

  // Wall time, and processor time of this thread, the kernel's part included and that of the collector not.
  private static long[] moment() {
    return new long[] {System.nanoTime(), ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime()};
  }

  private static void report(Compression.Algorithm codec, String work, long[] from, long[] until, long bytes) {
    System.out.println(String.format(Locale.ROOT,
        "{\"engine\":\"hbase\",\"codec\":\"%s\",\"work\":\"%s\",\"wall\":%.6f,\"cpu\":%.6f,\"bytes\":%d}",
        codec.getName(), work, (until[0] - from[0]) / 1e9, (until[1] - from[1]) / 1e9, bytes));
  }

  public static void main(String[] arguments) throws IOException {
    java.nio.file.Path directory = Paths.get(arguments[0]).toAbsolutePath();
    int rounds = Integer.parseInt(arguments[1]);
    FileSystem fs = Settings.files(CONF);
    List<KeyValue> cells = load(fs, new Path(directory.resolve("cellar-none").toUri()));
    long expected = 0;
    for (KeyValue cell : cells) expected += lookedAt(cell);
    List<Compression.Algorithm> working = Settings.codecs();
    for (Compression.Algorithm codec :
        List.of(Compression.Algorithm.NONE, Compression.Algorithm.SNAPPY, Compression.Algorithm.GZ)) {
      if (!working.contains(codec)) continue;
      java.nio.file.Path file = directory.resolve("hbase-" + codec.getName());
      Path path = new Path(file.toUri());
      for (int round = -1; round <= rounds; ++round) { // two rounds to warm up
        long[] begin = moment();
        write(fs, path, codec, cells);
        long[] written = moment();
        long read = scan(fs, path);
        long[] scanned = moment();
        if (read != expected) throw new IOException("the scan missed something: " + read + " of " + expected);
        if (round < 1) continue;
        report(codec, "write", begin, written, Files.size(file));
        report(codec, "scan", written, scanned, Files.size(file));
      }
    }
  }
}
