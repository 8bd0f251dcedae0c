// Cells as text: the one form of cell streams, as `cellar dump --mvcc --tags --format jsonl` prints them.
package interop;

import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.ExtendedCell;
import org.apache.hadoop.hbase.PrivateCellUtil;

final class Cells {
  private static final char[] HEX = "0123456789ABCDEF".toCharArray();

  private Cells() {}

  // With the number of the write and the tags.
  static String stored(Cell cell) {
    StringBuilder to = new StringBuilder(200);
    appendPlain(to, cell);
    to.append(",\"mvcc\":").append(((ExtendedCell) cell).getSequenceId());
    appendTags(to, PrivateCellUtil.cloneTags(cell));
    return to.append('}').toString();
  }

  static String plain(Cell cell) {
    StringBuilder to = new StringBuilder(200);
    appendPlain(to, cell);
    return to.append('}').toString();
  }

  private static void appendPlain(StringBuilder to, Cell cell) {
    to.append("{\"row\":");
    appendBytes(to, cell.getRowArray(), cell.getRowOffset(), cell.getRowLength());
    to.append(",\"family\":");
    appendBytes(to, cell.getFamilyArray(), cell.getFamilyOffset(), cell.getFamilyLength());
    to.append(",\"qualifier\":");
    appendBytes(to, cell.getQualifierArray(), cell.getQualifierOffset(), cell.getQualifierLength());
    to.append(",\"ts\":").append(cell.getTimestamp());
    to.append(",\"type\":\"").append(typeName(cell.getTypeByte())).append("\",\"value\":");
    appendBytes(to, cell.getValueArray(), cell.getValueOffset(), cell.getValueLength());
  }

  private static String typeName(byte code) {
    switch (code) {
      case 4: return "Put";
      case 8: return "Delete";
      case 10: return "DeleteFamilyVersion";
      case 12: return "DeleteColumn";
      case 14: return "DeleteFamily";
      default: return "Unknown";
    }
  }

  private static void appendTags(StringBuilder to, byte[] tags) {
    to.append(",\"tags\":[");
    for (int at = 0; at < tags.length; ) {
      int size = (tags[at] & 0xff) << 8 | (tags[at + 1] & 0xff);
      if (at > 0) to.append(',');
      to.append('[').append(tags[at + 2] & 0xff).append(',');
      appendBytes(to, tags, at + 3, size - 1);
      to.append(']');
      at += 2 + size;
    }
    to.append(']');
  }

  private static void appendBytes(StringBuilder to, byte[] bytes, int offset, int length) {
    to.append('"');
    for (int i = offset; i < offset + length; ++i) {
      int each = bytes[i] & 0xff;
      if (each < 0x20 || each > 0x7e || each == '\\') {
        to.append("\\\\x").append(HEX[each >> 4]).append(HEX[each & 15]);
      } else {
        if (each == '"') to.append('\\');
        to.append((char) each);
      }
    }
    to.append('"');
  }
}
