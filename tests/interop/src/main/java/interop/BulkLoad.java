// HBase, master and region server and all in this process, takes Cellar's files as a bulk load and answers from them.
//   BulkLoad WORK BULK ANSWER EXPORTED
//   (a directory to work in; BULK/FAMILY/FILE; what `cellar scan --versions 3` printed; what `cellar export --to hfile`
//   made of the same table, for the same regions)
package interop;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.LocalHBaseCluster;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.tool.BulkLoadHFilesTool;
import org.apache.hadoop.hbase.util.Bytes;

final class BulkLoad {
  private static final TableName TABLE = TableName.valueOf("loaded");
  private static final TableName EXPORTED = TableName.valueOf("exported");
  private static final int VERSIONS = 3;
  private static long differences;

  private BulkLoad() {}

  private static void differ(String what) {
    if (++differences <= 20) System.out.println("difference bulk load: " + what);
  }

  private static void createTable(Admin admin, TableName name) throws IOException {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(name);
    for (String family : new String[] {"a", "b"}) {
      table.setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes(family)).setMaxVersions(VERSIONS)
          .setBloomFilterType(BloomType.ROW).build());
    }
    admin.createTable(table.build(), new byte[][] {Bytes.toBytes("row0200"), Bytes.toBytes("row0600")});
  }

  private static List<String> scan(Table table, List<byte[]> rows) throws IOException {
    List<String> lines = new ArrayList<>();
    try (ResultScanner scanner = table.getScanner(new Scan().readVersions(VERSIONS))) {
      for (Result row : scanner) {
        rows.add(row.getRow());
        for (Cell cell : row.rawCells()) lines.add(Cells.plain(cell));
      }
    }
    return lines;
  }

  private static void compare(String what, List<String> expected, List<String> found) {
    if (expected.size() != found.size()) differ(what + ": " + found.size() + " cells, Cellar answers " + expected.size());
    for (int i = 0; i < Math.min(expected.size(), found.size()); ++i) {
      if (expected.get(i).equals(found.get(i))) continue;
      differ(what + ": cell " + i + " is " + found.get(i) + ", Cellar answers " + expected.get(i));
      return;
    }
  }

  // Until HBase has rewritten all files of a store as one.
  private static void awaitOneFileEach(LocalHBaseCluster cluster) throws Exception {
    for (int tenths = 0; tenths < 1_200; ++tenths) {
      boolean done = true;
      for (HRegion region : cluster.getRegionServer(0).getRegions(TABLE)) {
        for (HStore store : region.getStores()) done &= store.getStorefilesCount() <= 1;
      }
      if (done) return;
      Thread.sleep(100);
    }
    differ("the major compaction did not end within two minutes");
  }

  private static void ask(Connection connection, List<String> expected, String when) throws IOException {
    List<byte[]> rows = new ArrayList<>();
    List<String> got = new ArrayList<>();
    try (Table table = connection.getTable(TABLE)) {
      compare("scan " + when, expected, scan(table, rows));
      for (byte[] row : rows) {
        for (Cell cell : table.get(new Get(row).readVersions(VERSIONS)).rawCells()) got.add(Cells.plain(cell));
      }
    }
    compare("gets " + when, expected, got);
    System.out.println("counted " + expected.size() + " cells scanned after a bulk load");
    System.out.println("counted " + rows.size() + " gets after a bulk load");
  }

  // Files that were made for these regions: none may have to be cut in halves.
  private static void loadExported(Configuration conf, Admin admin, Path exported, List<String> expected)
      throws IOException {
    createTable(admin, EXPORTED);
    // The schema lies beside the families' directories; HBase passes over it.
    long there = 0;
    FileSystem files = exported.getFileSystem(conf);
    for (FileStatus each : files.listStatus(exported)) {
      if (each.isDirectory()) there += files.getContentSummary(each.getPath()).getFileCount();
    }
    int loaded = new BulkLoadHFilesTool(conf).bulkLoad(EXPORTED, exported).size();
    if (loaded != there) differ(there + " exported files came to be " + loaded + " files and halves in HBase");
    try (Table table = admin.getConnection().getTable(EXPORTED)) {
      compare("scan of the exported table", expected, scan(table, new ArrayList<>()));
    }
    System.out.println("counted " + loaded + " exported files taken in a bulk load");
    System.out.println("counted " + expected.size() + " cells scanned after an export and a bulk load");
  }

  public static void main(String[] arguments) throws Exception {
    java.nio.file.Path work = Files.createDirectories(Paths.get(arguments[0]).toAbsolutePath());
    Path bulk = new Path(Paths.get(arguments[1]).toAbsolutePath().toUri());
    List<String> expected = Files.readAllLines(Paths.get(arguments[2]), StandardCharsets.US_ASCII);
    if (expected.isEmpty()) throw new IOException("no cells to expect");
    Configuration conf = Cluster.configure(work);
    LocalHBaseCluster cluster = Cluster.start(conf, work);
    try (Connection connection = ConnectionFactory.createConnection(conf); Admin admin = connection.getAdmin()) {
      createTable(admin, TABLE);
      int files = new BulkLoadHFilesTool(conf).bulkLoad(TABLE, bulk).size();
      System.out.println("counted " + files + " files and halves of files taken in a bulk load");
      ask(connection, expected, "after the load");
      admin.majorCompact(TABLE);
      awaitOneFileEach(cluster);
      ask(connection, expected, "after a major compaction");
      loadExported(conf, admin, new Path(Paths.get(arguments[3]).toAbsolutePath().toUri()), expected);
    }
    System.out.println("counted " + differences + " differences");
    System.out.flush();
    Runtime.getRuntime().halt(differences == 0 ? 0 : 1); // a cluster takes long to stop, and there is nothing to keep
  }
}
