// A compaction policy that takes the run of files it is told, so that Cellar and HBase can merge the same ones.
package interop;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.StoreConfigInformation;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionRequestImpl;
import org.apache.hadoop.hbase.regionserver.compactions.RatioBasedCompactionPolicy;

public final class ChosenRun extends RatioBasedCompactionPolicy {
  // Of the files that hold cells, oldest first: so many, from this one on, counted round.
  static int from;
  static int count;

  public ChosenRun(Configuration conf, StoreConfigInformation store) {
    super(conf, store);
  }

  @Override
  protected CompactionRequestImpl createCompactionRequest(
      ArrayList<HStoreFile> files, boolean major, boolean offPeak, boolean stuck) {
    return new CompactionRequestImpl(major ? files : run(files));
  }

  // HBase writes files without cells, Cellar does not: they go with their neighbours, so that all is all in both.
  private static List<HStoreFile> run(List<HStoreFile> files) {
    List<Integer> full = new ArrayList<>();
    for (int i = 0; i < files.size(); ++i) {
      if (files.get(i).getReader().getEntries() > 0) full.add(i);
    }
    if (full.size() < 2) return new ArrayList<>();
    int first = from % (full.size() - 1);
    int end = Math.min(full.size(), first + count);
    int begin = first == 0 ? 0 : full.get(first);
    int until = end == full.size() ? files.size() : full.get(end);
    return new ArrayList<>(files.subList(begin, until));
  }
}
