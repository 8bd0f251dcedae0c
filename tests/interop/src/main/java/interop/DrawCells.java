// Cells for files that Cellar reads: drawn from a seed, awkward on purpose.
package interop;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.hbase.ArrayBackedTag;
import org.apache.hadoop.hbase.CellComparatorImpl;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.Tag;

final class DrawCells {
  static final List<String> SHAPES =
      Arrays.asList("empty", "one", "few", "many", "huge", "wide", "versions", "equal");
  private static final long TIME = 1_700_000_000_000L;
  private static final KeyValue.Type[] MARKERS = {
    KeyValue.Type.Delete, KeyValue.Type.DeleteColumn, KeyValue.Type.DeleteFamily, KeyValue.Type.DeleteFamilyVersion
  };

  private final Random random;

  DrawCells(Random random) {
    this.random = random;
  }

  boolean oneIn(int n) {
    return random.nextInt(n) == 0;
  }

  byte[] bytes(int size) {
    byte[] bytes = new byte[size];
    random.nextBytes(bytes);
    return bytes;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private byte[] value(int size) {
    if (oneIn(2)) return bytes(size);
    StringBuilder text = new StringBuilder();
    while (text.length() < size) text.append("value ").append(random.nextInt(50)).append(' ');
    return ascii(text.substring(0, size));
  }

  private int valueSize(String shape) {
    if (shape.equals("huge") && oneIn(3)) return 200_000 + random.nextInt(1_500_000);
    return oneIn(60) ? random.nextInt(9_000) : random.nextInt(100);
  }

  private List<byte[]> rows(int count) {
    List<byte[]> rows = new ArrayList<>();
    int form = random.nextInt(3);
    for (int i = 0; i < count; ++i) {
      if (form == 0) rows.add(ascii(String.format("row%06d", i * 3)));
      else if (form == 1) rows.add(bytes(1 + random.nextInt(30)));
      else rows.add(ascii("a".repeat(100 + random.nextInt(3) * 50) + String.format("%04d", random.nextInt(10_000))));
    }
    // Not where many cells would have it: an index of such keys is larger than all else.
    if (oneIn(8) && count > 2) rows.set(count - 1, bytes(1 + random.nextInt(Short.MAX_VALUE)));
    return rows;
  }

  private List<byte[]> qualifiers(int count) {
    List<byte[]> qualifiers = new ArrayList<>(
        Arrays.asList(ascii(""), ascii("a"), ascii("ab"), new byte[] {0}, new byte[] {(byte) 0xff}));
    while (qualifiers.size() < count)
      qualifiers.add(oneIn(2) ? ascii("column-" + random.nextInt(100_000)) : bytes(random.nextInt(20)));
    return qualifiers;
  }

  private List<Tag> tags() {
    List<Tag> tags = new ArrayList<>();
    for (int left = random.nextInt(4); left > 0; --left) {
      if (oneIn(4)) tags.add(new ArrayBackedTag((byte) 8, bytes(8)));
      else tags.add(new ArrayBackedTag((byte) (64 + random.nextInt(100)), ascii("tag " + random.nextInt(20))));
    }
    if (oneIn(100)) tags.add(new ArrayBackedTag((byte) 65, bytes(20_000)));
    return tags;
  }

  private long time() {
    if (oneIn(50)) return 0;
    if (oneIn(50)) return Long.MAX_VALUE - 1;
    return TIME + random.nextInt(oneIn(2) ? 5 : 1_000_000_000);
  }

  private int count(String shape) {
    switch (shape) {
      case "empty": return 0;
      case "one": return 1;
      case "few": return 2 + random.nextInt(30);
      case "many": return 2_000 + random.nextInt(3_000);
      case "huge": return 6 + random.nextInt(20);
      default: return 1_000 + random.nextInt(1_000);
    }
  }

  // In file order. Without tags or sequences where those are not asked for.
  List<KeyValue> draw(String shape, boolean withTags, boolean withMvcc) {
    List<byte[]> rows = rows(shape.equals("many") ? 1_500 : shape.equals("wide") ? 2 : 12);
    List<byte[]> qualifiers = qualifiers(shape.equals("wide") ? 1_000 : 6);
    byte[] family = ascii(oneIn(4) ? "family-with-a-long-name" : "f");
    List<KeyValue> cells = new ArrayList<>();
    for (int left = count(shape); left > 0; --left) {
      KeyValue.Type type = oneIn(6) ? MARKERS[random.nextInt(MARKERS.length)] : KeyValue.Type.Put;
      boolean put = type == KeyValue.Type.Put;
      boolean whole = type == KeyValue.Type.DeleteFamily || type == KeyValue.Type.DeleteFamilyVersion;
      byte[] row = rows.get(random.nextInt(rows.size()));
      byte[] qualifier = whole ? ascii("") : qualifiers.get(random.nextInt(qualifiers.size()));
      byte[] value = put ? value(valueSize(shape)) : ascii("");
      long time = time();
      for (int again = shape.equals("equal") && oneIn(2) ? 2 : 1; again > 0; --again) {
        KeyValue cell = new KeyValue(row, family, qualifier, time, type, value, withTags ? tags() : null);
        if (withMvcc) cell.setSequenceId(oneIn(2) ? random.nextInt(100) : random.nextLong() >>> 14);
        cells.add(cell);
      }
    }
    cells.sort(CellComparatorImpl.COMPARATOR);
    return cells;
  }
}
