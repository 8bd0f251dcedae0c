// Asks a store file's Bloom filter as a get does; in HBase's package because that question is not public.
package org.apache.hadoop.hbase.regionserver;

import java.util.TreeSet;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.util.Bytes;

public final class BloomQuestion {
  private BloomQuestion() {}

  // Whether the file may hold the row, or, given a qualifier, the column.
  public static boolean mayHold(StoreFileReader reader, byte[] row, byte[] qualifier) {
    TreeSet<byte[]> columns = new TreeSet<>(Bytes.BYTES_COMPARATOR);
    if (qualifier != null) columns.add(qualifier);
    return reader.passesBloomFilter(new Scan(new Get(row)), columns);
  }
}
