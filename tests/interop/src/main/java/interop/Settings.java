// Configuration of HBase for all programs here: local files, no cache; and which codecs work.
package interop;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.fs.HFileSystem;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.io.compress.Compressor;
import org.apache.hadoop.io.compress.Decompressor;

final class Settings {
  private Settings() {}

  static Configuration create() {
    Configuration conf = HBaseConfiguration.create();
    conf.set("fs.defaultFS", "file:///");
    conf.setFloat("hfile.block.cache.size", 0.0f);
    return conf;
  }

  // With HBase's own checksums verified, as its servers do.
  static FileSystem files(Configuration conf) throws IOException {
    return new HFileSystem(conf, true);
  }

  // The codecs that work here: what they compress they also read.
  static List<Compression.Algorithm> codecs() {
    List<Compression.Algorithm> working = new ArrayList<>();
    for (Compression.Algorithm codec : Compression.Algorithm.values()) {
      if (works(codec)) working.add(codec);
    }
    return working;
  }

  private static boolean works(Compression.Algorithm codec) {
    if (codec == Compression.Algorithm.NONE) return true;
    byte[] text = new byte[1000];
    Arrays.fill(text, (byte) 'x');
    Compressor compressor = null;
    Decompressor decompressor = null;
    try {
      compressor = codec.getCompressor();
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      try (OutputStream out = codec.createCompressionStream(bytes, compressor, 0)) {
        out.write(text);
      }
      decompressor = codec.getDecompressor();
      try (InputStream in =
          codec.createDecompressionStream(new ByteArrayInputStream(bytes.toByteArray()), decompressor, 0)) {
        return Arrays.equals(in.readNBytes(text.length), text);
      }
    } catch (Throwable absent) { // UnsatisfiedLinkError and NoClassDefFoundError among them
      return false;
    } finally {
      if (compressor != null) codec.returnCompressor(compressor);
      if (decompressor != null) codec.returnDecompressor(decompressor);
    }
  }
}
