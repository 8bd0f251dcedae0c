// Makes tables in an HBase of this process, in the forms in which HBase leaves them on disk: flushes with markers, bulk
// loads, a split, a merge, a snapshot, a clone. Writes down what HBase's client answers, for Cellar to answer from the
// directories alone.
//   Directories WORK SEED  (WORK/root is HBase's root; WORK/questions.tsv: the file of an answer, then Cellar's words)
package interop;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.tool.BulkLoadHFilesTool;
import org.apache.hadoop.hbase.util.Bytes;

final class Directories {
  private static final String[] FAMILIES = {"a", "b", "c"};
  private static final int VERSIONS = 3;
  private static final byte[] MIDDLE = row(100);

  private final Configuration conf;
  private final Connection connection;
  private final Admin admin;
  private final java.nio.file.Path root;
  private final java.nio.file.Path answers;
  private final Random random;
  private final List<String> questions = new ArrayList<>();
  private int loads = 0;
  private final Set<String> written = new HashSet<>();

  private Directories(
      Configuration conf, Connection connection, Admin admin, java.nio.file.Path work, long seed) throws IOException {
    this.conf = conf;
    this.connection = connection;
    this.admin = admin;
    this.root = work.resolve("root");
    this.answers = Files.createDirectories(work.resolve("answers"));
    this.random = new Random(seed);
  }

  public static void main(String[] arguments) throws Exception {
    java.nio.file.Path work = Files.createDirectories(Paths.get(arguments[0]).toAbsolutePath());
    Configuration conf = Cluster.configure(work);
    Cluster.start(conf, work);
    try (Connection connection = ConnectionFactory.createConnection(conf); Admin admin = connection.getAdmin()) {
      Directories made = new Directories(conf, connection, admin, work, Long.parseLong(arguments[1]));
      made.splitTable();
      made.mergedTable();
      Files.write(work.resolve("questions.tsv"), made.questions, StandardCharsets.US_ASCII);
    }
    System.out.flush();
    Runtime.getRuntime().halt(0);
  }

  private static byte[] row(int number) {
    return Bytes.toBytes(String.format("row%03d", number));
  }

  private void create(TableName name, byte[]... splits) throws IOException {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(name).setCompactionEnabled(false);
    for (String family : FAMILIES) {
      table.setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes(family))
          .setMaxVersions(family.equals("b") ? 1 : VERSIONS)
          .setKeepDeletedCells(family.equals("b") ? KeepDeletedCells.TRUE : KeepDeletedCells.FALSE)
          .setNewVersionBehavior(family.equals("c")).build());
    }
    if (splits.length > 0) {
      admin.createTable(table.build(), splits);
    } else {
      admin.createTable(table.build());
    }
  }

  private byte[] family() {
    return Bytes.toBytes(FAMILIES[random.nextInt(FAMILIES.length)]);
  }

  // By sequence (family c) HBase's reader fails at a marker of the column without a name behind one of the family.
  private byte[] qualifier(byte[] family) {
    return Bytes.toBytes(new String[] {"p", "q", ""}[random.nextInt(family[0] == 'c' ? 2 : 3)]);
  }

  private long time() {
    return 1 + random.nextInt(15);
  }

  // By sequence (family c) HBase counts two puts of one column and timestamp as two versions if a marker was written
  // between them, Cellar counts one (see docs/hbase-differences.md), so no such put is written twice.
  private boolean isNew(byte[] row, byte[] family, byte[] qualifier, long time) {
    return family[0] != 'c' || written.add(Bytes.toString(row) + " " + Bytes.toString(qualifier) + " " + time);
  }

  // Some writes, then a flush.
  private void round(TableName name, int writes) throws IOException {
    try (Table table = connection.getTable(name)) {
      for (int i = 0; i < writes; ++i) {
        byte[] row = row(random.nextInt(200));
        byte[] family = family();
        if (random.nextInt(4) > 0) {
          byte[] qualifier = qualifier(family);
          long time = time();
          byte[] value = Bytes.toBytes("v" + random.nextInt());
          if (isNew(row, family, qualifier, time)) table.put(new Put(row).addColumn(family, qualifier, time, value));
          continue;
        }
        Delete delete = new Delete(row);
        switch (random.nextInt(4)) {
          case 0: delete.addColumn(family, qualifier(family), time()); break;
          case 1: delete.addColumns(family, qualifier(family), time()); break;
          case 2: delete.addFamily(family, time()); break;
          default: delete.addFamilyVersion(family, time());
        }
        table.delete(delete);
      }
    }
    admin.flush(name);
  }

  // Files that HBase's own bulk load takes in; their cells lie among those that are there. All cells of a load have
  // one sequence. By sequence (family c) HBase counts those of one column as one version, Cellar counts each (see
  // docs/hbase-differences.md), so a load has one cell of such a column.
  private void load(TableName name, java.nio.file.Path work) throws IOException {
    java.nio.file.Path directory = work.resolve("load" + loads++);
    FileSystem files = FileSystem.getLocal(conf);
    for (String columns : FAMILIES) {
      byte[] family = Bytes.toBytes(columns);
      TreeSet<KeyValue> cells = new TreeSet<>(CellComparator.getInstance());
      Set<String> loaded = new HashSet<>();
      for (int i = 0; i < 100; ++i) {
        byte[] row = row(random.nextInt(200));
        byte[] qualifier = qualifier(family);
        if (!loaded.add(Bytes.toString(Bytes.add(row, qualifier))) && family[0] == 'c') continue;
        long time = time();
        byte[] value = Bytes.toBytes("loaded" + random.nextInt());
        if (isNew(row, family, qualifier, time)) cells.add(new KeyValue(row, family, qualifier, time, value));
      }
      Path path = new Path(directory.resolve(columns).resolve(String.format("%032x", loads)).toUri());
      HFile.Writer writer = HFile.getWriterFactoryNoCache(conf).withPath(files, path)
          .withFileContext(new HFileContextBuilder().withIncludesMvcc(true).build()).create();
      for (KeyValue cell : cells) writer.append(cell);
      writer.appendFileInfo(HStoreFile.BULKLOAD_TIME_KEY, Bytes.toBytes(System.currentTimeMillis()));
      writer.close();
    }
    new BulkLoadHFilesTool(conf).bulkLoad(name, new Path(directory.toUri()));
  }

  private List<String> scanned(TableName name, Scan scan) throws IOException {
    List<String> lines = new ArrayList<>();
    try (Table table = connection.getTable(name); ResultScanner scanner = table.getScanner(scan)) {
      for (Result row : scanner) for (Cell cell : row.rawCells()) lines.add(Cells.plain(cell));
    }
    return lines;
  }

  private void ask(List<String> answer, String... words) throws IOException {
    java.nio.file.Path file = answers.resolve(questions.size() + ".jsonl");
    Files.write(file, answer, StandardCharsets.US_ASCII);
    questions.add(file + "\t" + String.join("\t", words));
  }

  // What HBase says of the table now, asked of the directory.
  private void askAll(TableName name, String directory) throws IOException {
    Scan all = new Scan().readVersions(VERSIONS);
    ask(scanned(name, all), "scan", directory, "--versions", "all");
    ask(scanned(name, new Scan()), "scan", directory);
    ask(scanned(name, new Scan().readVersions(VERSIONS).setReversed(true)), "scan", directory, "--versions", "all",
        "--reverse");
    ask(scanned(name, new Scan().setRaw(true).readAllVersions()), "scan", directory, "--raw");
    Scan timed = new Scan().readVersions(VERSIONS).setTimeRange(4, 9);
    ask(scanned(name, timed), "scan", directory, "--versions", "all", "--time", "4..9");
    ask(scanned(name, new Scan().withStartRow(row(90)).withStopRow(row(120)).setLimit(17)), "scan", directory,
        "--start", "row090", "--stop", "row120", "--limit", "17");
    ask(scanned(name, new Scan().withStartRow(row(110)).withStopRow(row(95)).setReversed(true)), "scan", directory,
        "--start", "row110", "--stop", "row095", "--reverse");
    ask(scanned(name, new Scan().addFamily(Bytes.toBytes("c")).addColumn(Bytes.toBytes("a"), Bytes.toBytes("q"))),
        "scan", directory, "--column", "c", "--column", "a:q");
    try (Table table = connection.getTable(name)) {
      for (int i = 0; i < 200; i += 9) {
        List<String> lines = new ArrayList<>();
        for (Cell cell : table.get(new Get(row(i)).readVersions(VERSIONS)).rawCells()) lines.add(Cells.plain(cell));
        ask(lines, "get", directory, Bytes.toString(row(i)), "--versions", "all");
      }
    }
  }

  private String place(TableName name) {
    return root.resolve("data").resolve(name.getNamespaceAsString()).resolve(name.getQualifierAsString()).toString();
  }

  private void awaitRegions(TableName name, int number) throws Exception {
    for (int tenths = 0; tenths < 600 && admin.getRegions(name).size() != number; ++tenths) Thread.sleep(100);
    if (admin.getRegions(name).size() != number) throw new IOException(name + " has not got " + number + " regions");
  }

  private void splitTable() throws Exception {
    TableName name = TableName.valueOf("split");
    create(name);
    for (int i = 0; i < 3; ++i) round(name, 400);
    load(name, root.getParent());
    round(name, 300);
    admin.splitRegionAsync(admin.getRegions(name).get(0).getRegionName(), MIDDLE).get();
    awaitRegions(name, 2);
    round(name, 300);
    load(name, root.getParent());
    admin.snapshot("then", name);
    askAll(name, root.resolve(".hbase-snapshot").resolve("then").toString());
    TableName clone = TableName.valueOf("clone");
    admin.cloneSnapshot("then", clone);
    round(clone, 100);
    round(name, 300);
    askAll(clone, place(clone));
    askAll(name, place(name));
    for (RegionInfo region : admin.getRegions(name)) {
      ask(scanned(name, new Scan().withStartRow(region.getStartKey()).withStopRow(region.getEndKey())), "scan",
          place(name) + "/" + region.getEncodedName());
    }
    ask(scanned(name, new Scan()), "scan", root.toString(), "split");
  }

  private void mergedTable() throws Exception {
    TableName name = TableName.valueOf("merged");
    create(name, MIDDLE);
    for (int i = 0; i < 2; ++i) round(name, 300);
    List<byte[]> regions = new ArrayList<>();
    for (RegionInfo region : admin.getRegions(name)) regions.add(region.getEncodedNameAsBytes());
    admin.mergeRegionsAsync(regions.toArray(new byte[0][]), false).get();
    awaitRegions(name, 1);
    round(name, 200);
    askAll(name, place(name));
  }
}
