// HBase's own tool bulk loads a directory of HFiles into the cluster of hbase-site.xml.
//   LoadFiles DIRECTORY TABLE
package interop;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.tool.BulkLoadHFiles;

final class LoadFiles {
  private LoadFiles() {}

  public static void main(String[] arguments) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    int regions = BulkLoadHFiles.create(conf).bulkLoad(TableName.valueOf(arguments[1]), new Path(arguments[0])).size();
    System.out.println("loads " + regions);
    Runtime.getRuntime().halt(0);
  }
}
