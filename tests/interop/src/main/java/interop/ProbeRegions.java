// HBase's own probe of all regions, once. It ends with 0 if each column family of each region could be read.
package interop;

import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.tool.CanaryTool;
import org.apache.hadoop.util.ToolRunner;

final class ProbeRegions {
  private ProbeRegions() {}

  public static void main(String[] arguments) throws Exception {
    Runtime.getRuntime().halt(ToolRunner.run(HBaseConfiguration.create(), new CanaryTool(), arguments));
  }
}
