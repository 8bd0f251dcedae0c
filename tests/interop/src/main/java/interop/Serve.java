// HBase's own client, unchanged, works on a store that `cellar_interop serve` serves.
//
//   Serve DIRECTORY OPERATIONS ANSWERS COMMAND…     the operations are described in region.py
//
// COMMAND starts the server; it prints its address, and takes the time from its standard input. Rewrites of files are
// asked for and answered by "rewritten": what files a table has is no matter of a client.
package interop;

import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.CheckAndMutateResult;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;

public final class Serve implements AutoCloseable {
  private static final long PATIENCE_NS = 60_000_000_000L;

  private final Process server;
  private final BufferedReader said;
  private final OutputStream told;
  final Connection connection;
  final Admin admin;
  private Table table;

  Serve(List<String> command) throws IOException {
    server = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    said = new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.ISO_8859_1));
    told = server.getOutputStream();
    String line = said.readLine();
    if (line == null) throw new IOException("the server has not started");
    Configuration conf = HBaseConfiguration.create();
    conf.set("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.RpcConnectionRegistry");
    conf.set("hbase.masters", line.substring(line.lastIndexOf(' ') + 1));
    conf.setInt("hbase.client.retries.number", 4);
    connection = ConnectionFactory.createConnection(conf);
    admin = connection.getAdmin();
  }

  // Sets the server's clock.
  void clock(String time) throws IOException {
    told.write(("clock " + time + "\n").getBytes(StandardCharsets.ISO_8859_1));
    told.flush();
    if (!"ok".equals(said.readLine())) throw new IOException("the server does not set its clock");
  }

  @Override
  public void close() throws IOException {
    admin.close();
    connection.close();
    told.close(); // ends the server
    try {
      if (server.waitFor() != 0) throw new IOException("the server ended with " + server.exitValue());
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  private void table(List<String> fields) throws IOException {
    if (table != null) {
      admin.disableTable(table.getName());
      admin.deleteTable(table.getName());
    }
    TableName name = TableName.valueOf(fields.get(1));
    TableDescriptorBuilder descriptor = TableDescriptorBuilder.newBuilder(name);
    for (String each : fields.subList(2, fields.size())) descriptor.setColumnFamily(Region.family(each).build());
    admin.createTable(descriptor.build());
    table = connection.getTable(name);
  }

  private String scan(Scan scan, int limit) throws IOException {
    StringBuilder to = new StringBuilder("rows");
    if (limit > 0) scan.setLimit(limit);
    try (ResultScanner scanner = table.getScanner(scan)) {
      byte[] last = null;
      int rows = 0;
      for (Result result : scanner) {
        if (last == null || !Arrays.equals(last, result.getRow())) ++rows;
        last = result.getRow();
        if (limit > 0 && rows > limit) break;
        to.append(" |").append(Region.text(Arrays.asList(result.rawCells())));
      }
    }
    return to.toString();
  }

  private String check(List<String> fields) throws IOException {
    CheckAndMutateResult result = table.checkAndMutate(Requests.check(fields));
    return (result.isSuccess() ? "success" : "failure") + Region.text(result.getResult());
  }

  // A compaction is answered before it begins. Its end is awaited: a put meanwhile would keep markers that the table
  // beside it drops (docs/decisions/snapshots-stay.md).
  private String rewrite(List<String> fields) throws IOException {
    if (fields.get(0).equals("flush")) {
      admin.flush(table.getName());
      return "rewritten";
    }
    admin.majorCompact(table.getName());
    long end = System.nanoTime() + PATIENCE_NS;
    while (admin.getCompactionState(table.getName()) != CompactionState.NONE) {
      if (System.nanoTime() > end) throw new IOException("the compaction has not ended after a minute");
      Thread.onSpinWait();
    }
    return "rewritten";
  }

  private String answer(List<String> fields) throws IOException {
    switch (fields.get(0)) {
      case "table": table(fields); return "ok";
      case "clock": clock(fields.get(1)); return "ok";
      case "put": table.put(Requests.put(fields)); return "ok";
      case "delete": table.delete(Requests.delete(fields)); return "ok";
      case "increment": return "cells" + Region.text(table.increment(Requests.increment(fields)));
      case "append": return "cells" + Region.text(table.append(Requests.append(fields)));
      case "mutate": return "cells" + Region.text(table.mutateRow(Requests.mutations(fields)));
      case "check": return check(fields);
      case "flush":
      case "major": return rewrite(fields);
      case "get": return "cells" + Region.text(table.get(Requests.get(fields)));
      case "exists": return table.exists(Requests.get(fields)) ? "yes" : "no";
      case "scan": return scan(Requests.scan(fields), Requests.limit(fields));
      case "at": return scan(Requests.scan(fields), 1);
      default: throw new IllegalArgumentException(fields.get(0));
    }
  }

  private String answerOrError(String line) {
    try {
      return answer(Arrays.asList(line.split("\t", -1)));
    } catch (IOException | RuntimeException e) {
      return "error " + e.toString().replace('\n', ' ');
    }
  }

  public static void main(String[] arguments) throws Exception {
    List<String> command = new ArrayList<>(Arrays.asList(arguments).subList(3, arguments.length));
    command.add(arguments[0]);
    int differences = 0;
    try (Serve serve = new Serve(command)) {
      Statements statements = new Statements(serve);
      statements.run();
      differences = statements.differences();
      System.out.println("counted " + statements.checks() + " statements of an administrator and their effects");
      try (PrintStream answers = new PrintStream(new FileOutputStream(arguments[2]), true, "ISO-8859-1")) {
        for (String line : Files.readAllLines(Paths.get(arguments[1]), StandardCharsets.ISO_8859_1))
          answers.print(serve.answerOrError(line) + "\n");
      }
    }
    System.out.println("counted " + differences + " differences");
    Runtime.getRuntime().halt(0);
  }
}
