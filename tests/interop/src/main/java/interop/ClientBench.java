// HBase's side of the comparison of two clients of one cluster: HBase's own client, in a process without a server.
//   ClientBench bench MASTERS TABLE ROWS  (measures once for each line of standard input, and then prints "done")
//   ClientBench first MASTERS TABLE       (reads one row: what a program does at its start)
//
// tests/cluster/client_bench.cc does the same with Cellar's client. The sums tell whether both read the same.
package interop;

import static interop.BenchRows.FAMILY;
import static interop.BenchRows.POOL;
import static interop.BenchRows.QUALIFIER;
import static interop.BenchRows.bytes;
import static interop.BenchRows.farRow;
import static interop.BenchRows.lookedAt;
import static interop.BenchRows.row;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;

final class ClientBench {
  private static final int LIST = 100; // operations in a list
  private static final int THREADS = 4;

  private final OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private final Connection connection;
  private final TableName name;
  private final Table table;
  private final int rows;
  private final byte[][] values = BenchRows.values();
  private long counted = 0; // by earlier rounds

  private ClientBench(Connection connection, TableName name, int rows) throws IOException {
    this.connection = connection;
    this.name = name;
    this.table = connection.getTable(name);
    this.rows = rows;
  }

  private static Connection connect(String masters) throws IOException {
    Configuration conf = HBaseConfiguration.create();
    conf.set("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.RpcConnectionRegistry");
    conf.set("hbase.masters", masters);
    return ConnectionFactory.createConnection(conf);
  }

  private Put putOf(long k) {
    return new Put(farRow(k, rows)).addColumn(FAMILY, QUALIFIER, values[(int) (k % POOL)]);
  }

  private Get getOf(long k) {
    return new Get(farRow(k, rows)).addColumn(FAMILY, QUALIFIER);
  }

  private static long sumOf(Result result) {
    long sum = 0;
    if (!result.isEmpty())
      for (Cell cell : result.rawCells()) sum += lookedAt(cell);
    return sum;
  }

  private long put(int operations) throws IOException {
    for (int k = 0; k < operations; ++k) table.put(putOf(k));
    return 0;
  }

  private long putLists() throws IOException {
    for (int k = 0; k < rows;) {
      List<Put> list = new ArrayList<>();
      for (int end = Math.min(k + LIST, rows); k < end; ++k) list.add(putOf(k));
      table.put(list);
    }
    return 0;
  }

  private static long get(ClientBench bench, Table table, int from, int until) throws IOException {
    long sum = 0;
    for (int k = from; k < until; ++k) sum += sumOf(table.get(bench.getOf(k)));
    return sum;
  }

  private long getInThreads() throws IOException {
    ExecutorService pool = Executors.newFixedThreadPool(THREADS);
    List<Future<Long>> parts = new ArrayList<>();
    for (int i = 0; i < THREADS; ++i) {
      int from = (int) ((long) rows * i / THREADS);
      int until = (int) ((long) rows * (i + 1) / THREADS);
      parts.add(pool.submit(() -> {
        try (Table own = connection.getTable(name)) { // a table is for one thread
          return get(this, own, from, until);
        }
      }));
    }
    long sum = 0;
    try {
      for (Future<Long> each : parts) sum += each.get();
    } catch (InterruptedException | ExecutionException e) {
      throw new IOException(e);
    } finally {
      pool.shutdown();
    }
    return sum;
  }

  private long getLists() throws IOException {
    long sum = 0;
    for (int k = 0; k < rows;) {
      List<Get> list = new ArrayList<>();
      for (int end = Math.min(k + LIST, rows); k < end; ++k) list.add(getOf(k));
      for (Result each : table.get(list)) sum += sumOf(each);
    }
    return sum;
  }

  private long scan(Scan scan) throws IOException {
    long sum = 0;
    try (ResultScanner scanner = table.getScanner(scan)) {
      for (Result each : scanner) sum += sumOf(each);
    }
    return sum;
  }

  private long scans(int operations, int limit) throws IOException {
    long sum = 0;
    for (int k = 0; k < operations; ++k)
      sum += scan(new Scan().withStartRow(farRow(k, rows - limit)).setLimit(limit));
    return sum;
  }

  private long increment(int operations) throws IOException {
    long sum = 0;
    for (int k = 0; k < operations; ++k)
      sum += table.incrementColumnValue(bytes("counter of HBase"), FAMILY, bytes("n"), 1) - counted - k; // 1, in every round
    counted += operations;
    return sum;
  }

  private void measure(String work, long operations, BenchRows.Work run) throws IOException {
    BenchRows.measure(work, operations, process::getProcessCpuTime, run);
  }

  private void round() throws IOException {
    measure("put_lists", rows, this::putLists);
    measure("put", rows / 8, () -> put(rows / 8));
    measure("get", rows / 4, () -> get(this, table, 0, rows / 4));
    measure("get_4_threads", rows, this::getInThreads);
    measure("get_lists", rows, this::getLists);
    measure("full_scan", rows, () -> scan(new Scan().withStartRow(bytes("user")).withStopRow(bytes("uses"))));
    measure("scan10", rows / 10, () -> scans(rows / 10, 10));
    measure("scan100", rows / 20, () -> scans(rows / 20, 100));
    measure("increment", rows / 8, () -> increment(rows / 8));
  }

  public static void main(String[] arguments) throws IOException {
    TableName name = TableName.valueOf(arguments[2]);
    try (Connection connection = connect(arguments[1])) {
      if (arguments[0].equals("first")) {
        try (Table table = connection.getTable(name)) {
          if (!table.exists(new Get(row(0)))) throw new IOException("the first row is missing");
        }
      } else {
        BenchRows.whenAsked(new ClientBench(connection, name, Integer.parseInt(arguments[3]))::round);
      }
    }
  }
}
