// A whole HBase in this process: master, region server and ZooKeeper, on local files.
package interop;

import java.io.IOException;
import java.net.ServerSocket;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.LocalHBaseCluster;
import org.apache.hadoop.hbase.zookeeper.MiniZooKeeperCluster;

final class Cluster {
  private Cluster() {}

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  static Configuration configure(java.nio.file.Path work) throws IOException {
    Configuration conf = Settings.create();
    conf.setFloat("hfile.block.cache.size", 0.2f);
    conf.set("hbase.rootdir", work.resolve("root").toUri().toString());
    conf.set("hbase.tmp.dir", work.resolve("tmp").toString());
    conf.setBoolean("hbase.cluster.distributed", false);
    conf.setBoolean("hbase.unsafe.stream.capability.enforce", false); // a local file system has no hsync
    conf.set("hbase.wal.provider", "filesystem");
    conf.set("hbase.zookeeper.quorum", "127.0.0.1");
    for (String server : new String[] {"master", "regionserver"}) {
      conf.setInt("hbase." + server + ".port", 0);
      conf.setInt("hbase." + server + ".info.port", -1);
      conf.set("hbase." + server + ".hostname", "localhost");
      conf.set("hbase.unsafe." + server + ".hostname", "localhost");
      conf.set("hbase." + server + ".ipc.address", "127.0.0.1");
    }
    conf.setBoolean("hbase.hstore.bulkload.verify", true); // the server reads each file whole
    conf.setInt("hbase.client.retries.number", 10);
    return conf;
  }

  // Its root is WORK/root. It is ended by Runtime.halt: a cluster takes long to stop.
  static LocalHBaseCluster start(Configuration conf, java.nio.file.Path work) throws Exception {
    return start(conf, work, 1);
  }

  static LocalHBaseCluster start(Configuration conf, java.nio.file.Path work, int servers) throws Exception {
    MiniZooKeeperCluster zookeeper = new MiniZooKeeperCluster(conf);
    zookeeper.setDefaultClientPort(freePort());
    conf.setInt("hbase.zookeeper.property.clientPort", zookeeper.startup(work.resolve("zookeeper").toFile()));
    LocalHBaseCluster cluster = new LocalHBaseCluster(conf, 1, servers);
    cluster.startup();
    return cluster;
  }
}
