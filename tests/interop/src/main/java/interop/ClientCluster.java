// A whole HBase with two region servers for a client in another process. It prints "cluster HOST:PORT HOST:PORT", its
// master and its ZooKeeper, when it can be used. Then it obeys the lines of its standard input, and ends with it:
//   split TABLE ROW   move TABLE ROW (to the other server)   merge TABLE ROW (with the region after it)
//   kill TABLE ROW (the server of the region, at once)       start (one more server)
//   hdfs (its name)   put DIRECTORY PATH (of HDFS)           own PATH USER (all of it)     count PATH (its files)
// Each command is answered by "done" and perhaps a word, or by "failed" and the reason.
//   ClientCluster WORK [hdfs]  (its files lie on local files, or on an HDFS of its own)
package interop;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.LocalHBaseCluster;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.JVMClusterUtil;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;

final class ClientCluster {
  private static final long PATIENCE_MS = 60_000;
  private final LocalHBaseCluster cluster;
  private final Hdfs hdfs; // or null
  private final Connection connection;
  private final Admin admin;

  private ClientCluster(LocalHBaseCluster cluster, Hdfs hdfs, Connection connection) throws Exception {
    this.cluster = cluster;
    this.hdfs = hdfs;
    this.connection = connection;
    this.admin = connection.getAdmin();
  }

  private HRegionLocation at(TableName table, byte[] row) throws Exception {
    try (RegionLocator locator = connection.getRegionLocator(table)) {
      return locator.getRegionLocation(row, true);
    }
  }

  private interface Condition {
    boolean holds() throws Exception;
  }

  private static void await(String what, Condition condition) throws Exception {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MS);
    while (System.nanoTime() < end) {
      if (condition.holds()) return;
      Thread.sleep(50);
    }
    throw new IllegalStateException(what + " was not seen within a minute");
  }

  private void move(TableName table, byte[] row) throws Exception {
    HRegionLocation from = at(table, row);
    for (JVMClusterUtil.RegionServerThread each : cluster.getLiveRegionServers()) {
      ServerName name = each.getRegionServer().getServerName();
      if (name.equals(from.getServerName())) continue;
      admin.move(from.getRegion().getEncodedNameAsBytes(), name);
      await("the move", () -> at(table, row).getServerName().equals(name));
      return;
    }
    throw new IllegalStateException("no other server is alive");
  }

  // Regions that a split has made are merged only after a compaction has rewritten their halves of files.
  private void merge(TableName table, byte[] row) throws Exception {
    HRegionLocation first = at(table, row);
    HRegionLocation second = at(table, first.getRegion().getEndKey());
    byte[][] names = {first.getRegion().getEncodedNameAsBytes(), second.getRegion().getEncodedNameAsBytes()};
    admin.flush(table);
    admin.majorCompact(table);
    await("the merge", () -> {
      try {
        admin.mergeRegionsAsync(names, false).get(PATIENCE_MS, TimeUnit.MILLISECONDS);
        return true;
      } catch (ExecutionException e) {
        if (String.valueOf(e.getCause().getMessage()).contains("is not mergeable")) return false;
        throw e;
      }
    });
  }

  private void kill(TableName table, byte[] row) throws Exception {
    ServerName name = at(table, row).getServerName();
    for (JVMClusterUtil.RegionServerThread each : cluster.getLiveRegionServers()) {
      HRegionServer server = each.getRegionServer();
      if (server.getServerName().equals(name)) server.abort("killed by the test");
    }
    await("the region elsewhere", () -> {
      HRegionLocation now = at(table, row);
      return now.getServerName() != null && !now.getServerName().equals(name);
    });
  }

  // Returns what is said besides "done".
  private String obey(List<String> words) throws Exception {
    switch (words.get(0)) {
      case "start":
        cluster.addRegionServer(new Configuration(cluster.getConfiguration()), cluster.getRegionServers().size()).start();
        return "";
      case "hdfs": return " " + hdfs.name();
      case "webhdfs": return " " + hdfs.web();
      case "put":
        hdfs.put(Paths.get(words.get(1)), new Path(words.get(2)));
        return "";
      case "own":
        hdfs.own(new Path(words.get(1)), words.get(2));
        return "";
      case "count": return " " + hdfs.count(new Path(words.get(1)));
      default:
        change(words);
        return "";
    }
  }

  private void change(List<String> words) throws Exception {
    TableName table = TableName.valueOf(words.get(1));
    byte[] row = words.size() > 2 ? Bytes.toBytesBinary(words.get(2)) : new byte[0];
    switch (words.get(0)) {
      case "split": {
        int before = admin.getRegions(table).size();
        admin.split(table, row);
        await("the split", () -> admin.getRegions(table).size() > before);
        break;
      }
      case "move": move(table, row); break;
      case "merge": merge(table, row); break;
      case "kill": kill(table, row); break;
      default: throw new IllegalArgumentException("unknown command " + words.get(0));
    }
  }

  public static void main(String[] arguments) {
    try {
      run(arguments);
    } catch (Throwable e) {
      e.printStackTrace();
      Runtime.getRuntime().halt(1); // threads of the servers would keep the process alive
    }
    Runtime.getRuntime().halt(0); // a cluster takes long to stop, and there is nothing to keep
  }

  private static void run(String[] arguments) throws Exception {
    java.nio.file.Path work = Files.createDirectories(Paths.get(arguments[0]).toAbsolutePath());
    Configuration conf = Cluster.configure(work);
    DefaultMetricsSystem.setMiniClusterMode(true); // several servers have figures of one name
    Hdfs hdfs = arguments.length > 1 && arguments[1].equals("hdfs") ? new Hdfs(conf, work) : null;
    if (hdfs != null) conf.set("hbase.rootdir", hdfs.name() + "/hbase");
    conf.setInt("hbase.catalogjanitor.interval", 1_000); // a region that was split soon lets its halves be merged
    conf.setInt("hbase.hfile.compaction.discharger.interval", 1_000);
    LocalHBaseCluster cluster = Cluster.start(conf, work, 2);
    try (Connection connection = ConnectionFactory.createConnection(conf)) {
      ClientCluster commands = new ClientCluster(cluster, hdfs, connection);
      await("the master", () -> cluster.getActiveMaster() != null && cluster.getActiveMaster().isInitialized());
      System.out.println("cluster " + cluster.getActiveMaster().getServerName().getAddress() + " 127.0.0.1:"
          + conf.get("hbase.zookeeper.property.clientPort"));
      System.out.flush();
      BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = input.readLine(); line != null; line = input.readLine()) {
        try {
          System.out.println("done" + commands.obey(List.of(line.trim().split(" "))));
        } catch (Exception e) {
          System.out.println("failed " + String.valueOf(e).replace('\n', ' ')); // each answer is one line
        }
        System.out.flush();
      }
    }
  }
}
