// An HDFS in this process, of one NameNode and one DataNode, with its files under a directory.
package interop;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.namenode.NameNode;

final class Hdfs {
  private final FileSystem files;
  private final NameNode names;

  // Makes it the file system of the configuration.
  Hdfs(Configuration conf, java.nio.file.Path work) throws IOException {
    conf.set("fs.defaultFS", "hdfs://127.0.0.1:0");
    conf.set("dfs.namenode.name.dir", work.resolve("names").toUri().toString());
    conf.set("dfs.datanode.data.dir", work.resolve("blocks").toUri().toString());
    conf.setInt("dfs.replication", 1);
    for (String address : new String[] {"namenode.http-address", "datanode.address", "datanode.http.address",
        "datanode.ipc.address"}) conf.set("dfs." + address, "127.0.0.1:0");
    NameNode.format(conf);
    names = NameNode.createNameNode(new String[0], conf);
    conf.set("fs.defaultFS", "hdfs://127.0.0.1:" + names.getNameNodeAddress().getPort());
    DataNode.createDataNode(new String[0], conf);
    files = FileSystem.get(conf);
    files.setPermission(new Path("/"), new FsPermission((short) 0777)); // anybody may bring a directory
  }

  String name() {
    return files.getUri().toString();
  }

  // Where the NameNode answers WebHDFS.
  String web() {
    return "127.0.0.1:" + names.getHttpAddress().getPort();
  }

  // Copies a directory of this machine to a path that holds nothing else afterwards, with rights for everybody.
  void put(java.nio.file.Path from, Path to) throws IOException {
    files.delete(to, true);
    FileUtil.copy(from.toFile(), files, to, false, files.getConf());
    allow(to);
  }

  private void allow(Path path) throws IOException {
    files.setPermission(path, new FsPermission((short) 0777));
    for (FileStatus each : files.listStatus(path)) {
      if (each.isDirectory()) allow(each.getPath());
      else files.setPermission(each.getPath(), new FsPermission((short) 0666));
    }
  }

  // Gives a directory and all that is in it to a user.
  void own(Path path, String user) throws IOException {
    files.setOwner(path, user, null);
    for (FileStatus each : files.listStatus(path)) {
      if (each.isDirectory()) own(each.getPath(), user);
      else files.setOwner(each.getPath(), user, null);
    }
  }

  // The number of files under a directory.
  int count(Path directory) throws IOException {
    int count = 0;
    for (RemoteIterator<LocatedFileStatus> all = files.listFiles(directory, true); all.hasNext(); all.next()) ++count;
    return count;
  }
}
