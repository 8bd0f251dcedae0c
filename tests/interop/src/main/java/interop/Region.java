// One region of HBase, opened in this process on local files, answers operations that Cellar answers too.
//
//   Region OPERATIONS ANSWERS WORK     the operations are described in region.py
//
// HBase does not end some of them. Such an operation is given up after a while, and the rest of its table is skipped.
package interop;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.CheckAndMutateResult;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.ChunkCreator;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.MemStoreLAB;
import org.apache.hadoop.hbase.regionserver.RegionScanner;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionContext;
import org.apache.hadoop.hbase.regionserver.throttle.NoLimitThroughputController;
import org.apache.hadoop.hbase.util.EnvironmentEdge;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.hadoop.hbase.wal.WALFactory;

public final class Region {
  private static final long SECONDS = 10; // for an operation that takes milliseconds when it ends
  private static volatile long now;
  private final Configuration conf;
  private final WALFactory logs;
  private final Path root;
  private HRegion region;

  private Region(java.nio.file.Path work) throws IOException {
    conf = Settings.create();
    conf.set("hbase.rootdir", work.toUri().toString());
    conf.set("hbase.tmp.dir", work.resolve("tmp").toString());
    conf.setBoolean("hbase.unsafe.stream.capability.enforce", false);
    conf.setBoolean("hbase.regionserver.hlog.enabled", false); // writes are numbered, but not logged
    conf.setBoolean("hbase.store.delete.expired.storefile", false); // else raw scans depend on when it happens
    conf.setLong("hbase.hregion.majorcompaction", 0);
    conf.setInt("hbase.hstore.compaction.max", 1000);
    conf.set("hbase.hstore.defaultengine.compactionpolicy.class", ChosenRun.class.getName());
    conf.setBoolean(MemStoreLAB.USEMSLAB_KEY, false);
    root = new Path(work.toUri());
    logs = new WALFactory(conf, "interop");
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  static ColumnFamilyDescriptorBuilder family(String text) {
    String[] words = text.split(" ");
    ColumnFamilyDescriptorBuilder family = ColumnFamilyDescriptorBuilder.newBuilder(bytes(words[0]));
    for (String word : Arrays.asList(words).subList(1, words.length)) {
      String[] option = word.split("=");
      switch (option[0]) {
        case "versions": family.setMaxVersions(Integer.parseInt(option[1])); break;
        case "min": family.setMinVersions(Integer.parseInt(option[1])); break;
        case "ttl": family.setTimeToLive(Integer.parseInt(option[1])); break;
        case "kept": family.setKeepDeletedCells(KeepDeletedCells.valueOf(option[1])); break;
        case "order": family.setNewVersionBehavior(option[1].equals("sequence")); break;
        default: throw new IllegalArgumentException(word);
      }
    }
    return family;
  }

  private void close() throws IOException {
    if (region == null) return;
    region.close(true); // without a flush
    region = null;
  }

  private void table(List<String> fields) throws IOException {
    close();
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(TableName.valueOf(fields.get(1)));
    for (String each : fields.subList(2, fields.size())) table.setColumnFamily(family(each).build());
    RegionInfo info = RegionInfoBuilder.newBuilder(TableName.valueOf(fields.get(1))).build();
    region = HRegion.createHRegion(info, root, conf, table.build(), logs.getWAL(info));
  }

  // ---- Answers ----

  private static void append(StringBuilder to, byte[] array, int offset, int length) {
    for (int i = offset; i < offset + length; ++i) {
      int each = array[i] & 0xff;
      if (each <= 0x20 || each > 0x7e) to.append(String.format("\\x%02X", each));
      else to.append((char) each);
    }
  }

  static String text(List<? extends Cell> cells) {
    StringBuilder to = new StringBuilder();
    for (Cell cell : cells) {
      to.append(' ');
      append(to, cell.getRowArray(), cell.getRowOffset(), cell.getRowLength());
      to.append('/');
      append(to, cell.getFamilyArray(), cell.getFamilyOffset(), cell.getFamilyLength());
      to.append(':');
      append(to, cell.getQualifierArray(), cell.getQualifierOffset(), cell.getQualifierLength());
      to.append('/').append(cell.getTimestamp()).append('/').append(cell.getType()).append('=');
      append(to, cell.getValueArray(), cell.getValueOffset(), cell.getValueLength());
    }
    return to.toString();
  }

  static String text(Result result) {
    if (result == null || result.isEmpty()) return "";
    List<Cell> cells = new ArrayList<>(result.listCells());
    cells.sort(CellComparator.getInstance()); // cells computed by an Increment come in the order of the request
    List<Cell> stored = new ArrayList<>(); // of RowMutations HBase also answers those that a later one replaces
    for (Cell cell : cells) {
      int last = stored.size() - 1;
      if (last >= 0 && CellUtil.matchingColumn(stored.get(last), cell)
          && stored.get(last).getTimestamp() == cell.getTimestamp()) stored.remove(last);
      stored.add(cell);
    }
    return text(stored);
  }

  // Cells in each file that has some.
  private String files() {
    StringBuilder to = new StringBuilder("files");
    for (HStore store : region.getStores()) {
      to.append(' ').append(store.getColumnFamilyName()).append('=');
      for (HStoreFile file : store.getStorefiles()) {
        if (file.getReader().getEntries() > 0) to.append(file.getReader().getEntries()).append(',');
      }
    }
    return to.toString();
  }

  private String scan(Scan scan, int limit) throws IOException {
    StringBuilder to = new StringBuilder("rows");
    int rows = 0;
    byte[] last = null;
    try (RegionScanner scanner = region.getScanner(scan)) {
      for (boolean more = true; more;) {
        List<Cell> cells = new ArrayList<>();
        more = scanner.next(cells);
        if (cells.isEmpty()) continue;
        byte[] row = CellUtil.cloneRow(cells.get(0));
        if (last == null || !Arrays.equals(row, last)) ++rows;
        last = row;
        if (limit > 0 && rows > limit) break;
        to.append(" |").append(text(cells));
      }
    }
    return to.toString();
  }

  private String check(List<String> fields) throws IOException {
    CheckAndMutateResult result = region.checkAndMutate(Requests.check(fields));
    return (result.isSuccess() ? "success" : "failure") + text(result.getResult());
  }

  private void compact(HStore store) throws IOException {
    Optional<CompactionContext> chosen = store.requestCompaction();
    if (chosen.isPresent()) region.compact(chosen.get(), store, NoLimitThroughputController.INSTANCE);
  }

  private String major() throws IOException {
    for (HStore store : region.getStores()) {
      if (store.getStorefilesCount() == 0) continue; // a request that finds nothing makes the next one a major one
      store.triggerMajorCompaction();
      compact(store);
    }
    return files();
  }

  private String compact(List<String> fields) throws IOException {
    ChosenRun.from = Integer.parseInt(fields.get(2));
    ChosenRun.count = Integer.parseInt(fields.get(3));
    compact(region.getStore(bytes(fields.get(1))));
    return files();
  }

  private String answer(List<String> fields) throws IOException {
    switch (fields.get(0)) {
      case "table": table(fields); return "ok";
      case "clock": now = Long.parseLong(fields.get(1)); return "ok";
      case "put": region.put(Requests.put(fields)); return "ok";
      case "delete": region.delete(Requests.delete(fields)); return "ok";
      case "increment": return "cells" + text(region.increment(Requests.increment(fields)));
      case "append": return "cells" + text(region.append(Requests.append(fields)));
      case "mutate": return "cells" + text(region.mutateRow(Requests.mutations(fields)));
      case "check": return check(fields);
      case "flush": region.flush(true); return files();
      case "major": return major();
      case "compact": return compact(fields);
      case "get": return "cells" + text(region.get(Requests.get(fields)));
      case "exists": return region.get(Requests.get(fields)).isEmpty() ? "no" : "yes";
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

  // Answers one line after the other on a thread that can be given up.
  private static final class Worker {
    private final BlockingQueue<String> asked = new ArrayBlockingQueue<>(1);
    private final BlockingQueue<String> answered = new ArrayBlockingQueue<>(1);
    private final Thread thread;

    Worker(Region region) {
      thread = new Thread(() -> {
        try {
          while (true) answered.put(region.answerOrError(asked.take()));
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      });
      thread.setDaemon(true);
      thread.start();
    }

    // None if the operation does not end.
    Optional<String> answer(String line) throws InterruptedException {
      asked.put(line);
      return Optional.ofNullable(answered.poll(SECONDS, TimeUnit.SECONDS));
    }

    // A loop of HBase's asks for no interruption; where Java cannot stop a thread it goes on at the lowest priority.
    @SuppressWarnings({"deprecation", "removal"})
    void giveUp() {
      thread.setPriority(Thread.MIN_PRIORITY);
      try {
        thread.stop();
      } catch (UnsupportedOperationException e) {
        thread.interrupt();
      }
    }
  }

  private static void answerAll(List<String> lines, PrintStream answers, java.nio.file.Path work) throws Exception {
    Region region = new Region(work.resolve("0"));
    Worker worker = new Worker(region);
    int givenUp = 0;
    boolean skipping = false;
    for (String line : lines) {
      skipping &= !line.startsWith("table\t");
      Optional<String> answer = skipping ? Optional.of("skipped") : worker.answer(line);
      if (!answer.isPresent()) {
        worker.giveUp(); // and its region, which may be locked
        region = new Region(work.resolve(String.valueOf(++givenUp)));
        worker = new Worker(region);
        skipping = true;
      }
      answers.print(answer.orElse("error java.lang.Error: not ended after " + SECONDS + " s") + "\n");
    }
    region.close();
  }

  public static void main(String[] arguments) throws Exception {
    EnvironmentEdgeManager.injectEdge(new EnvironmentEdge() {
      @Override
      public long currentTime() {
        return now;
      }
    });
    ChunkCreator.initialize(MemStoreLAB.CHUNK_SIZE_DEFAULT, false, 0, 0, 0, null,
        MemStoreLAB.INDEX_CHUNK_SIZE_PERCENTAGE_DEFAULT);
    try (PrintStream answers = new PrintStream(new FileOutputStream(arguments[1]), true, "ISO-8859-1")) {
      answerAll(Files.readAllLines(Paths.get(arguments[0]), StandardCharsets.ISO_8859_1), answers,
          Paths.get(arguments[2]));
    }
    Runtime.getRuntime().halt(0);
  }
}
