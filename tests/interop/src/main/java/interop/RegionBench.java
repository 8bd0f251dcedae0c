// HBase's side of the comparison of operations: a region on local files, in this process, without a log.
//   RegionBench DIRECTORY ROWS  (measures once for each line of standard input, and then prints "done")
//
// region_bench.cc does the same with Cellar. The sums tell whether both read the same.
package interop;

import static interop.BenchRows.FAMILY;
import static interop.BenchRows.POOL;
import static interop.BenchRows.QUALIFIER;
import static interop.BenchRows.STEP;
import static interop.BenchRows.bytes;
import static interop.BenchRows.farRow;
import static interop.BenchRows.lookedAt;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.ChunkCreator;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.MemStoreLAB;
import org.apache.hadoop.hbase.regionserver.RegionScanner;
import org.apache.hadoop.hbase.regionserver.throttle.NoLimitThroughputController;
import org.apache.hadoop.hbase.wal.WALFactory;

public final class RegionBench {
  private static final int FILES = 4;

  private final Configuration conf = Settings.create();
  private final Path root;
  private final WALFactory logs;
  private final int rows;
  private final byte[][] values = BenchRows.values();
  private int rounds = 0;
  private HRegion region;
  private BlockCache cache;

  private RegionBench(java.nio.file.Path work, int rows) throws IOException {
    conf.set("hbase.rootdir", work.toUri().toString());
    conf.set("hbase.tmp.dir", work.resolve("tmp").toString());
    conf.setBoolean("hbase.unsafe.stream.capability.enforce", false);
    conf.setBoolean("hbase.regionserver.hlog.enabled", false);
    conf.setFloat("hfile.block.cache.size", 0.4f); // HBase's default
    root = new Path(work.toUri());
    logs = new WALFactory(conf, "interop");
    this.rows = rows;
  }

  private byte[] jump(long k) {
    return farRow(k, rows);
  }

  private byte[] missing(long k) {
    byte[] row = jump(k);
    byte[] longer = java.util.Arrays.copyOf(row, row.length + 1);
    longer[row.length] = 'x';
    return longer;
  }

  private void open() throws IOException {
    RegionInfo info = RegionInfoBuilder.newBuilder(TableName.valueOf("bench" + rounds)).build();
    TableDescriptor table = TableDescriptorBuilder.newBuilder(info.getTable())
        .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setBloomFilterType(BloomType.ROW).build())
        .build();
    region = HRegion.createHRegion(info, root, conf, table, logs.getWAL(info), false);
    cache = BlockCacheFactory.createBlockCache(conf);
    region.setBlockCache(cache);
    region.initialize();
  }

  // The processor time of this thread: the kernel's part included, and that of the collector not.
  private void measure(String name, long operations, BenchRows.Work work) throws IOException {
    BenchRows.measure(name, operations, ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime, work);
  }

  private long put(int from, int until) throws IOException {
    for (int k = from; k < until; ++k)
      region.put(new Put(jump(k)).addColumn(FAMILY, QUALIFIER, values[k % POOL]));
    return 0;
  }

  private long get(int operations, boolean present) throws IOException {
    long sum = 0;
    for (int k = 0; k < operations; ++k)
      for (Cell cell : region.get(new Get(present ? jump(k) : missing(k)).addColumn(FAMILY, QUALIFIER)).rawCells())
        sum += lookedAt(cell);
    return sum;
  }

  private long scan(Scan scan, int limit) throws IOException {
    long sum = 0;
    List<Cell> cells = new ArrayList<>();
    try (RegionScanner scanner = region.getScanner(scan)) {
      boolean more = true;
      for (int found = 0; more && found < limit; ++found) {
        more = scanner.nextRaw(cells);
        for (Cell cell : cells) sum += lookedAt(cell);
        cells.clear();
      }
    }
    return sum;
  }

  private long scans(int operations, int limit) throws IOException {
    long sum = 0;
    for (int k = 0; k < operations; ++k)
      sum += scan(new Scan().withStartRow(farRow(k, rows - limit)).setLimit(limit), limit);
    return sum;
  }

  private long increment(int operations, int counters) throws IOException {
    long sum = 0;
    for (int k = 0; k < operations; ++k) {
      byte[] row = bytes("counter" + k * STEP % counters);
      for (Cell cell : region.increment(new Increment(row).addColumn(FAMILY, QUALIFIER, 1)).rawCells())
        sum += cell.getValueArray()[cell.getValueOffset() + cell.getValueLength() - 1];
    }
    return sum;
  }

  private long compact() throws IOException {
    HStore store = region.getStore(FAMILY);
    store.triggerMajorCompaction();
    region.compact(store.requestCompaction().get(), store, NoLimitThroughputController.INSTANCE);
    return store.getStorefilesCount();
  }

  private void round() throws IOException {
    open();
    measure("put", rows, () -> {
      for (int file = 0; file < FILES; ++file) {
        put(rows / FILES * file, file + 1 == FILES ? rows : rows / FILES * (file + 1));
        region.flush(true);
      }
      return 0;
    });
    measure("compact_major", rows, this::compact);
    scan(new Scan(), Integer.MAX_VALUE);
    measure("get", rows / 2, () -> get(rows / 2, true));
    measure("get_missing", rows / 2, () -> get(rows / 2, false));
    measure("full_scan", rows, () -> scan(new Scan(), Integer.MAX_VALUE));
    measure("scan10", rows / 20, () -> scans(rows / 20, 10));
    measure("scan100", rows / 100, () -> scans(rows / 100, 100));
    measure("reversed_scan", rows, () -> scan(new Scan().setReversed(true), Integer.MAX_VALUE));
    measure("increment_hot", rows / 4, () -> increment(rows / 4, 1));
    measure("increment_100k", rows / 4, () -> increment(rows / 4, 100000));
    region.close(true);
    cache.shutdown();
    ++rounds;
  }

  public static void main(String[] arguments) throws IOException {
    ChunkCreator.initialize(MemStoreLAB.CHUNK_SIZE_DEFAULT, false, 0, 0, 0, null,
        MemStoreLAB.INDEX_CHUNK_SIZE_PERCENTAGE_DEFAULT);
    RegionBench bench =
        new RegionBench(Paths.get(arguments[0]).toAbsolutePath(), Integer.parseInt(arguments[1]));
    BenchRows.whenAsked(bench::round);
    Runtime.getRuntime().halt(0);
  }
}
