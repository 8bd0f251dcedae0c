// The rows that the comparisons of operations use, and how they measure. bench_rows.h has the same.
package interop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.function.LongSupplier;
import org.apache.hadoop.hbase.Cell;

final class BenchRows {
  static final byte[] FAMILY = bytes("f");
  static final byte[] QUALIFIER = bytes("q");
  static final int POOL = 1000; // of values
  static final long STEP = 7919; // a prime: a walk that jumps far at each step

  interface Work {
    long run() throws IOException; // the sum of all that was read
  }

  interface Round {
    void run() throws IOException;
  }

  private BenchRows() {}

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  // Half of each looks like chance.
  static byte[][] values() {
    byte[][] values = new byte[POOL][100];
    for (int index = 0; index < POOL; ++index) {
      long state = index;
      for (int i = 0; i < 100; ++i) {
        state = state * 6364136223846793005L + 1442695040888963407L;
        values[index][i] = (byte) (i < 50 ? 'a' + (state >>> 33) % 26 : 'v');
      }
    }
    return values;
  }

  static byte[] row(long index) {
    byte[] row = bytes("user000000000000");
    for (int i = row.length - 1; index != 0; --i, index /= 10) row[i] = (byte) ('0' + index % 10);
    return row;
  }

  // The row at step k of the walk over `rows` rows.
  static byte[] farRow(long k, long rows) {
    return row(k * STEP % rows);
  }

  static long lookedAt(Cell cell) {
    return cell.getRowLength() + cell.getQualifierLength() + cell.getValueLength()
        + cell.getValueArray()[cell.getValueOffset() + cell.getValueLength() - 1];
  }

  // Does the work, and prints what it took. `clock` gives processor time in nanoseconds.
  static void measure(String name, long operations, LongSupplier clock, Work work) throws IOException {
    long wall = System.nanoTime();
    long cpu = clock.getAsLong();
    long sum = work.run();
    cpu = clock.getAsLong() - cpu;
    wall = System.nanoTime() - wall;
    System.out.println(String.format(Locale.ROOT,
        "{\"engine\":\"hbase\",\"work\":\"%s\",\"operations\":%d,\"wall\":%.6f,\"cpu\":%.6f,\"sum\":%d}", name,
        operations, wall / 1e9, cpu / 1e9, sum));
  }

  // One round for each line of standard input.
  static void whenAsked(Round round) throws IOException {
    BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    while (asked.readLine() != null) {
      round.run();
      System.out.println("done");
      System.out.flush();
    }
  }
}
