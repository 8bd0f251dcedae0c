// What an administrator and an application ask through HBase's client of a served store, and what must come of it.
package interop;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.NamespaceExistException;
import org.apache.hadoop.hbase.NamespaceNotFoundException;
import org.apache.hadoop.hbase.TableExistsException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.TableNotDisabledException;
import org.apache.hadoop.hbase.TableNotEnabledException;
import org.apache.hadoop.hbase.TableNotFoundException;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.AdvancedScanResultConsumer;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.AsyncAdmin;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.filter.PrefixFilter;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException;
import org.apache.hadoop.hbase.util.Bytes;

final class Statements {
  private interface Work {
    void run() throws Exception;
  }

  private static final byte[] FAMILY = Bytes.toBytes("d");
  private static final byte[] COLUMN = Bytes.toBytes("q");
  private final Serve serve;
  private final Admin admin;
  private long time = 1_000_000;
  private int checks;
  private int differences;

  Statements(Serve serve) {
    this.serve = serve;
    admin = serve.admin;
  }

  int checks() {
    return checks;
  }

  int differences() {
    return differences;
  }

  private void equal(String what, Object expected, Object found) {
    ++checks;
    if (expected == null ? found == null : expected.equals(found)) return;
    ++differences;
    System.out.println("difference serve: " + what + ": expected " + expected + ", found " + found);
  }

  private void fails(String what, Class<? extends Throwable> expected, Work work) {
    Throwable found = null;
    try {
      work.run();
    } catch (Throwable thrown) {
      found = thrown;
      for (Throwable each = thrown; each != null; each = each.getCause()) {
        if (expected.isInstance(each)) found = each;
      }
      if (thrown instanceof RetriesExhaustedWithDetailsException) {
        for (Throwable each : ((RetriesExhaustedWithDetailsException) thrown).getCauses()) {
          if (expected.isInstance(each)) found = each;
        }
      }
    }
    equal(what, expected.getName(), found == null ? "no exception" : found.getClass().getName()
        + (expected.isInstance(found) ? "" : " " + found));
  }

  private static TableDescriptor table(String name, String... families) {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(TableName.valueOf(name));
    for (String each : families) table.setColumnFamily(ColumnFamilyDescriptorBuilder.of(each));
    return table.build();
  }

  private static Put put(String row, String value) {
    return new Put(Bytes.toBytes(row)).addColumn(FAMILY, COLUMN, Bytes.toBytes(value));
  }

  private static String value(Result result) {
    return Bytes.toString(result.getValue(FAMILY, COLUMN));
  }

  private static int rows(Table table, Scan scan) throws IOException {
    int rows = 0;
    try (ResultScanner scanner = table.getScanner(scan)) {
      for (Result each : scanner) ++rows;
    }
    return rows;
  }

  // The server's clock stands still otherwise, and a delete hides no later put.
  private void tick() throws IOException {
    time += 1000;
    serve.clock(String.valueOf(time));
  }

  void run() throws Exception {
    tick();
    tables();
    families();
    namespaces();
    regions();
    rows();
    lists();
    scans();
    asynchronous();
  }

  private void tables() throws IOException {
    TableName name = TableName.valueOf("orders");
    equal("a table before it is created", false, admin.tableExists(name));
    admin.createTable(table("orders", "d"));
    equal("a created table", true, admin.tableExists(name));
    equal("its state", true, admin.isTableEnabled(name) && admin.isTableAvailable(name));
    fails("a table created twice", TableExistsException.class, () -> admin.createTable(table("orders", "d")));
    equal("the list of tables", Arrays.asList(name), Arrays.asList(admin.listTableNames()));
    equal("descriptors", 1, admin.listTableDescriptors().size());
    fails("an enabled table dropped", TableNotDisabledException.class, () -> admin.deleteTable(name));
    try (Table orders = serve.connection.getTable(name)) {
      orders.put(put("row", "1"));
      admin.disableTable(name);
      equal("a disabled table", true, admin.isTableDisabled(name));
      fails("a read of a disabled table", TableNotEnabledException.class, () -> orders.get(new Get(Bytes.toBytes("row"))));
      fails("a table disabled twice", TableNotEnabledException.class, () -> admin.disableTable(name));
      admin.enableTable(name);
      equal("a row after the table is enabled", "1", value(orders.get(new Get(Bytes.toBytes("row")))));
      admin.disableTable(name);
      admin.truncateTable(name, true);
      equal("a truncated table", true, admin.isTableEnabled(name) && orders.get(new Get(Bytes.toBytes("row"))).isEmpty());
    }
    admin.disableTable(name);
    admin.deleteTable(name);
    equal("a dropped table", false, admin.tableExists(name));
    fails("the descriptor of no table", TableNotFoundException.class, () -> admin.getDescriptor(name));
    try (Table gone = serve.connection.getTable(name)) {
      fails("a read of no table", TableNotFoundException.class, () -> gone.get(new Get(Bytes.toBytes("row"))));
    }
  }

  private void families() throws IOException {
    TableName name = TableName.valueOf("people");
    admin.createTable(TableDescriptorBuilder.newBuilder(name)
        .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setMaxVersions(5).setTimeToLive(86400)
            .setCompressionType(Compression.Algorithm.GZ).setBloomFilterType(BloomType.ROWCOL).build())
        .setValue("OWNER", "me").build());
    TableDescriptor described = admin.getDescriptor(name);
    equal("versions", 5, described.getColumnFamily(FAMILY).getMaxVersions());
    equal("time to live", 86400, described.getColumnFamily(FAMILY).getTimeToLive());
    equal("compression", Compression.Algorithm.GZ, described.getColumnFamily(FAMILY).getCompressionType());
    equal("filter", BloomType.ROWCOL, described.getColumnFamily(FAMILY).getBloomFilterType());
    equal("a block", 65536, described.getColumnFamily(FAMILY).getBlocksize());
    equal("a note", "me", described.getValue("OWNER"));
    admin.addColumnFamily(name, ColumnFamilyDescriptorBuilder.of("e"));
    equal("a family more", 2, admin.getDescriptor(name).getColumnFamilyCount());
    admin.modifyColumnFamily(name,
        ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes("e")).setMaxVersions(7).build());
    equal("a changed family", 7, admin.getDescriptor(name).getColumnFamily(Bytes.toBytes("e")).getMaxVersions());
    admin.deleteColumnFamily(name, Bytes.toBytes("e"));
    equal("a family less", 1, admin.getDescriptor(name).getColumnFamilyCount());
    admin.modifyTable(TableDescriptorBuilder.newBuilder(admin.getDescriptor(name)).setReadOnly(true).build());
    equal("a changed table", true, admin.getDescriptor(name).isReadOnly());
    try (Table people = serve.connection.getTable(name)) {
      fails("an unknown family", NoSuchColumnFamilyException.class,
          () -> people.get(new Get(Bytes.toBytes("row")).addFamily(Bytes.toBytes("x"))));
      fails("a write of a table that is read only", org.apache.hadoop.hbase.DoNotRetryIOException.class,
          () -> people.put(put("row", "1")));
    }
    admin.disableTable(name);
    admin.deleteTable(name);
  }

  private void namespaces() throws IOException {
    admin.createNamespace(NamespaceDescriptor.create("shop").addConfiguration("note", "one").build());
    fails("a namespace twice", NamespaceExistException.class,
        () -> admin.createNamespace(NamespaceDescriptor.create("shop").build()));
    Set<String> names = new HashSet<>(Arrays.asList(admin.listNamespaces()));
    equal("namespaces", new HashSet<>(Arrays.asList("default", "hbase", "shop")), names);
    equal("a note of a namespace", "one", admin.getNamespaceDescriptor("shop").getConfigurationValue("note"));
    admin.createTable(table("shop:orders", "d"));
    equal("tables of a namespace", 1, admin.listTableNamesByNamespace("shop").length);
    fails("a namespace that is not empty", org.apache.hadoop.hbase.constraint.ConstraintException.class,
        () -> admin.deleteNamespace("shop"));
    fails("a table of no namespace", NamespaceNotFoundException.class,
        () -> admin.createTable(table("none:orders", "d")));
    admin.disableTable(TableName.valueOf("shop:orders"));
    admin.deleteTable(TableName.valueOf("shop:orders"));
    admin.deleteNamespace("shop");
    fails("a namespace that was dropped", NamespaceNotFoundException.class,
        () -> admin.getNamespaceDescriptor("shop"));
  }

  private void regions() throws IOException {
    TableName name = TableName.valueOf("cut");
    admin.createTable(table("cut", "d"), new byte[][] {Bytes.toBytes("g"), Bytes.toBytes("p")});
    equal("regions", 3, admin.getRegions(name).size());
    equal("servers", 1, admin.getRegionServers().size());
    try (Table cut = serve.connection.getTable(name)) {
      List<Put> puts = new ArrayList<>();
      for (char row = 'a'; row <= 'z'; ++row) puts.add(put(String.valueOf(row), "1"));
      cut.put(puts);
      equal("rows of all regions", 26, rows(cut, new Scan()));
      equal("backwards", 26, rows(cut, new Scan().setReversed(true)));
      equal("rows over a bound", 4, rows(cut, new Scan().withStartRow(Bytes.toBytes("o"), false)
          .withStopRow(Bytes.toBytes("s"), true)));
      equal("the first rows", 10, rows(cut, new Scan().setLimit(10)));
      byte[] binary = {0, 1, 2};
      cut.put(new Put(binary).addColumn(FAMILY, COLUMN, binary));
      equal("a row of bytes before a comma", 1, cut.get(new Get(binary)).size());
      cut.delete(new Delete(binary));
      equal("few at a time", 26, rows(cut, new Scan().setCaching(2)));
    }
    admin.flush(name);
    admin.majorCompact(name);
    admin.compact(name);
    admin.disableTable(name);
    admin.deleteTable(name);
  }

  private void rows() throws IOException {
    TableName name = TableName.valueOf("rows");
    admin.createTable(table("rows", "d"));
    byte[] row = Bytes.toBytes("row");
    try (Table rows = serve.connection.getTable(name)) {
      rows.put(put("row", "1"));
      equal("a put", "1", value(rows.get(new Get(row))));
      equal("existence", true, rows.exists(new Get(row)));
      equal("a counter", 5L, rows.incrementColumnValue(row, FAMILY, Bytes.toBytes("n"), 5));
      equal("a counter again", 7L, Bytes.toLong(
          rows.increment(new Increment(row).addColumn(FAMILY, Bytes.toBytes("n"), 2)).getValue(FAMILY, Bytes.toBytes("n"))));
      equal("an append", "1x", value(rows.append(new Append(row).addColumn(FAMILY, COLUMN, Bytes.toBytes("x")))));
      equal("an append without its result", true, rows.append(
          new Append(row).addColumn(FAMILY, COLUMN, Bytes.toBytes("y")).setReturnResults(false)).isEmpty());
      fails("a counter of other bytes", org.apache.hadoop.hbase.DoNotRetryIOException.class,
          () -> rows.incrementColumnValue(row, FAMILY, COLUMN, 1));
      equal("a check that holds", true, rows.checkAndMutate(row, FAMILY).qualifier(COLUMN)
          .ifEquals(Bytes.toBytes("1xy")).thenPut(put("row", "2")));
      equal("a check that does not hold", false, rows.checkAndMutate(row, FAMILY).qualifier(COLUMN)
          .ifEquals(Bytes.toBytes("1xy")).thenPut(put("row", "3")));
      tick();
      equal("a check of nothing", true, rows.checkAndMutate(row, FAMILY).qualifier(Bytes.toBytes("none"))
          .ifNotExists().thenDelete(new Delete(row).addColumns(FAMILY, COLUMN)));
      equal("a delete", null, value(rows.get(new Get(row))));
      tick();
      RowMutations mutations = new RowMutations(row);
      mutations.add(new Put(row).addColumn(FAMILY, Bytes.toBytes("a"), Bytes.toBytes("1")));
      mutations.add(new Delete(row).addColumns(FAMILY, Bytes.toBytes("n")));
      rows.mutateRow(mutations);
      equal("changes of a row", 1, rows.get(new Get(row)).size());
      tick();
      rows.delete(new Delete(row));
      equal("a row that was deleted", true, rows.get(new Get(row)).isEmpty());
    }
    admin.disableTable(name);
    admin.deleteTable(name);
  }

  private void lists() throws Exception {
    TableName name = TableName.valueOf("lists");
    admin.createTable(table("lists", "d"));
    try (Table lists = serve.connection.getTable(name)) {
      List<Row> actions = new ArrayList<>();
      for (int i = 0; i < 100; ++i) actions.add(put("row" + i, "v" + i));
      Object[] results = new Object[100];
      lists.batch(actions, results);
      List<Get> gets = new ArrayList<>();
      for (int i = 0; i < 100; ++i) gets.add(new Get(Bytes.toBytes("row" + (i + 50))));
      Result[] found = lists.get(gets);
      equal("the first get of a list", "v50", value(found[0]));
      equal("the last get of a list", true, found[99].isEmpty());
      boolean[] exist = lists.exists(gets);
      equal("existence of a list", true, exist[0] && !exist[99]);
      List<Row> mixed = new ArrayList<>();
      mixed.add(new Get(Bytes.toBytes("row1")));
      mixed.add(new Increment(Bytes.toBytes("count")).addColumn(FAMILY, COLUMN, 3));
      mixed.add(new Append(Bytes.toBytes("row2")).addColumn(FAMILY, COLUMN, Bytes.toBytes("+")));
      mixed.add(new Get(Bytes.toBytes("row3")).addFamily(Bytes.toBytes("x")));
      mixed.add(new Delete(Bytes.toBytes("row4")));
      Object[] answers = new Object[mixed.size()];
      fails("an action of a list that cannot be", NoSuchColumnFamilyException.class,
          () -> lists.batch(mixed, answers));
      equal("a get among others", "v1", value((Result) answers[0]));
      equal("an increment among others", 3L, Bytes.toLong(((Result) answers[1]).getValue(FAMILY, COLUMN)));
      equal("an append among others", "v2+", value((Result) answers[2]));
      equal("a delete among others", true, lists.get(new Get(Bytes.toBytes("row4"))).isEmpty());
      try (BufferedMutator mutator = serve.connection.getBufferedMutator(name)) {
        for (int i = 0; i < 5000; ++i) mutator.mutate(put(String.format("many%05d", i), "v" + i));
      }
      equal("rows of a buffered mutator", 5000, rows(lists, new Scan().setFilter(new PrefixFilter(Bytes.toBytes("many")))));
    }
    admin.disableTable(name);
    admin.deleteTable(name);
  }

  private void scans() throws IOException {
    TableName name = TableName.valueOf("scans");
    admin.createTable(table("scans", "d", "e"));
    try (Table scans = serve.connection.getTable(name)) {
      byte[] large = new byte[100000];
      for (int i = 0; i < 60; ++i) {
        Put put = new Put(Bytes.toBytes(String.format("row%03d", i)));
        for (int column = 0; column < 10; ++column) put.addColumn(FAMILY, Bytes.toBytes("c" + column), large);
        scans.put(put);
      }
      int cells = 0;
      try (ResultScanner scanner = scans.getScanner(new Scan().setMaxResultSize(250000))) {
        for (Result each : scanner) cells += each.size();
      }
      equal("cells of answers with parts of rows", 600, cells);
      int parts = 0;
      try (ResultScanner scanner = scans.getScanner(new Scan().setBatch(3))) {
        for (Result each : scanner) ++parts;
      }
      equal("batches of three cells", 240, parts);
      try (ResultScanner scanner = scans.getScanner(new Scan().setCaching(5))) {
        scanner.next();
        equal("a renewed lease", true, scanner.renewLease());
        equal("rows after that", 59, scanner.next(100).length);
      }
    }
    admin.disableTable(name);
    admin.deleteTable(name);
  }

  // The other client of HBase, which has code of its own.
  private void asynchronous() throws Exception {
    TableName name = TableName.valueOf("others");
    try (AsyncConnection connection =
        ConnectionFactory.createAsyncConnection(serve.connection.getConfiguration()).get()) {
      AsyncAdmin others = connection.getAdmin();
      others.createTable(table("others", "d"), new byte[][] {Bytes.toBytes("m")}).get();
      equal("a table of the other client", true, others.tableExists(name).get());
      AsyncTable<AdvancedScanResultConsumer> table = connection.getTable(name);
      List<Put> puts = new ArrayList<>();
      for (char row = 'a'; row <= 'z'; ++row) puts.add(put(String.valueOf(row), "1"));
      table.putAll(puts).get();
      equal("a get of the other client", "1", value(table.get(new Get(Bytes.toBytes("z"))).get()));
      equal("a counter of the other client", 4L, table.incrementColumnValue(
          Bytes.toBytes("n"), FAMILY, Bytes.toBytes("count"), 4).get());
      equal("a check of the other client", true, table.checkAndMutate(CheckAndMutate.newBuilder(Bytes.toBytes("a"))
          .ifEquals(FAMILY, COLUMN, Bytes.toBytes("1")).build(put("a", "2"))).get().isSuccess());
      equal("rows of the other client", 26, table.scanAll(new Scan()).get().size());
      equal("backwards, of the other client", 5, table.scanAll(new Scan().setReversed(true).setLimit(5)).get().size());
      others.flush(name).get();
      others.disableTable(name).get();
      others.deleteTable(name).get();
      equal("a table that the other client dropped", false, others.tableExists(name).get());
    }
  }
}
