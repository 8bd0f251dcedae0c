// Codecs in Hadoop's block framing, as HBase's own codec modules have them (which are not in every repository):
// Hadoop's streams do the framing, this class gives them compressors of whole chunks.
package interop;

import io.airlift.compress.lzo.LzoCompressor;
import io.airlift.compress.lzo.LzoDecompressor;
import io.airlift.compress.zstd.ZstdCodec;
import io.airlift.compress.zstd.ZstdCompressor;
import io.airlift.compress.zstd.ZstdDecompressor;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PushbackInputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.io.compress.BZip2Codec;
import org.apache.hadoop.io.compress.BlockCompressorStream;
import org.apache.hadoop.io.compress.BlockDecompressorStream;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionInputStream;
import org.apache.hadoop.io.compress.CompressionOutputStream;
import org.apache.hadoop.io.compress.Compressor;
import org.apache.hadoop.io.compress.Decompressor;
import org.apache.hadoop.io.compress.DoNotPool;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.LZMAInputStream;
import org.tukaani.xz.LZMAOutputStream;

public abstract class FramedCodec extends Configured implements CompressionCodec {
  private static final int BUFFER = 256 * 1024;
  private static final int OVERHEAD = BUFFER / 6 + 32; // HBase's, for codecs of unknown expansion

  abstract byte[] pack(byte[] bytes) throws IOException;

  abstract byte[] unpack(byte[] bytes) throws IOException;

  // Reads both forms of HBase's ZSTD; writes the bare stream of Hadoop's own codec when told to.
  public static final class Zstd extends FramedCodec {
    static volatile boolean bare = false;
    private static final int MAGIC = 0x28b52ffd;

    @Override public CompressionOutputStream createOutputStream(OutputStream out, Compressor compressor)
        throws IOException {
      return bare ? new ZstdCodec().createOutputStream(out) : super.createOutputStream(out, compressor);
    }

    @Override public CompressionInputStream createInputStream(InputStream in, Decompressor decompressor)
        throws IOException {
      PushbackInputStream both = new PushbackInputStream(in, 4);
      byte[] first = both.readNBytes(4);
      both.unread(first);
      boolean framed = first.length < 4 || ByteBuffer.wrap(first).getInt() != MAGIC;
      return framed ? super.createInputStream(both, decompressor) : new ZstdCodec().createInputStream(both);
    }

    @Override byte[] pack(byte[] bytes) {
      ZstdCompressor compressor = new ZstdCompressor();
      byte[] out = new byte[compressor.maxCompressedLength(bytes.length)];
      return Arrays.copyOf(out, compressor.compress(bytes, 0, bytes.length, out, 0, out.length));
    }

    @Override byte[] unpack(byte[] bytes) {
      byte[] out = new byte[BUFFER];
      return Arrays.copyOf(out, new ZstdDecompressor().decompress(bytes, 0, bytes.length, out, 0, out.length));
    }

    @Override public String getDefaultExtension() {
      return ".zst";
    }
  }

  public static final class Lzma extends FramedCodec {
    @Override byte[] pack(byte[] bytes) throws IOException {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      LZMA2Options options = new LZMA2Options(1);
      options.setDictSize(BUFFER);
      try (OutputStream lzma = new LZMAOutputStream(out, options, bytes.length)) {
        lzma.write(bytes);
      }
      return out.toByteArray();
    }

    @Override byte[] unpack(byte[] bytes) throws IOException {
      try (InputStream lzma = new LZMAInputStream(new ByteArrayInputStream(bytes))) {
        return lzma.readAllBytes();
      }
    }

    @Override public String getDefaultExtension() {
      return ".lzma";
    }
  }

  public static final class Lzo extends FramedCodec {
    @Override byte[] pack(byte[] bytes) {
      LzoCompressor compressor = new LzoCompressor();
      byte[] out = new byte[compressor.maxCompressedLength(bytes.length)];
      return Arrays.copyOf(out, compressor.compress(bytes, 0, bytes.length, out, 0, out.length));
    }

    @Override byte[] unpack(byte[] bytes) {
      byte[] out = new byte[BUFFER];
      return Arrays.copyOf(out, new LzoDecompressor().decompress(bytes, 0, bytes.length, out, 0, out.length));
    }

    @Override public String getDefaultExtension() {
      return ".lzo";
    }
  }

  // Not framed: Hadoop's own streams, whose compressor HBase cannot pool where it is the one in Java.
  public static final class Bzip2 extends FramedCodec {
    private BZip2Codec streams() {
      BZip2Codec codec = new BZip2Codec();
      codec.setConf(getConf());
      return codec;
    }

    @Override public CompressionOutputStream createOutputStream(OutputStream out, Compressor compressor)
        throws IOException {
      return streams().createOutputStream(out);
    }

    @Override public CompressionInputStream createInputStream(InputStream in, Decompressor decompressor)
        throws IOException {
      return streams().createInputStream(in);
    }

    @Override byte[] pack(byte[] bytes) {
      throw new UnsupportedOperationException();
    }

    @Override byte[] unpack(byte[] bytes) {
      throw new UnsupportedOperationException();
    }

    @Override public String getDefaultExtension() {
      return ".bz2";
    }
  }

  // HBase pools by class, and another codec's would come back.
  @DoNotPool
  private final class Packer implements Compressor {
    private final ByteArrayOutputStream in = new ByteArrayOutputStream();
    private byte[] packed;
    private int at;
    private boolean finish;
    private long read;
    private long written;

    @Override public void setInput(byte[] bytes, int offset, int length) {
      in.write(bytes, offset, length);
      read += length;
    }

    @Override public boolean needsInput() {
      return packed == null && !finish;
    }

    @Override public int compress(byte[] to, int offset, int length) throws IOException {
      if (packed == null) {
        if (in.size() == 0) return 0;
        packed = pack(in.toByteArray());
        in.reset();
        at = 0;
      }
      int part = Math.min(length, packed.length - at);
      System.arraycopy(packed, at, to, offset, part);
      at += part;
      written += part;
      return part;
    }

    @Override public void finish() {
      finish = true;
    }

    @Override public boolean finished() {
      return finish && in.size() == 0 && (packed == null || at == packed.length);
    }

    @Override public void reset() {
      in.reset();
      packed = null;
      finish = false;
      read = written = 0;
    }

    @Override public long getBytesRead() {
      return read;
    }

    @Override public long getBytesWritten() {
      return written;
    }

    @Override public void setDictionary(byte[] bytes, int offset, int length) {}

    @Override public void end() {}

    @Override public void reinit(Configuration conf) {
      reset();
    }
  }

  @DoNotPool
  private final class Unpacker implements Decompressor {
    private byte[] unpacked = new byte[0];
    private byte[] waiting;
    private int at;

    @Override public void setInput(byte[] bytes, int offset, int length) {
      waiting = Arrays.copyOfRange(bytes, offset, offset + length);
    }

    @Override public boolean needsInput() {
      return waiting == null && at == unpacked.length;
    }

    @Override public int decompress(byte[] to, int offset, int length) throws IOException {
      if (at == unpacked.length) {
        if (waiting == null) return 0;
        unpacked = unpack(waiting);
        waiting = null;
        at = 0;
      }
      int part = Math.min(length, unpacked.length - at);
      System.arraycopy(unpacked, at, to, offset, part);
      at += part;
      return part;
    }

    @Override public boolean finished() {
      return waiting == null && at == unpacked.length;
    }

    @Override public void reset() {
      unpacked = new byte[0];
      waiting = null;
      at = 0;
    }

    @Override public boolean needsDictionary() {
      return false;
    }

    @Override public void setDictionary(byte[] bytes, int offset, int length) {}

    @Override public int getRemaining() {
      return 0;
    }

    @Override public void end() {}
  }

  @Override public CompressionOutputStream createOutputStream(OutputStream out) throws IOException {
    return createOutputStream(out, createCompressor());
  }

  @Override public CompressionOutputStream createOutputStream(OutputStream out, Compressor compressor)
      throws IOException {
    return new BlockCompressorStream(out, compressor, BUFFER, OVERHEAD);
  }

  @Override public CompressionInputStream createInputStream(InputStream in) throws IOException {
    return createInputStream(in, createDecompressor());
  }

  @Override public CompressionInputStream createInputStream(InputStream in, Decompressor decompressor)
      throws IOException {
    return new BlockDecompressorStream(in, decompressor, BUFFER);
  }

  @Override public Class<? extends Compressor> getCompressorType() {
    return Packer.class;
  }

  @Override public Compressor createCompressor() {
    return new Packer();
  }

  @Override public Class<? extends Decompressor> getDecompressorType() {
    return Unpacker.class;
  }

  @Override public Decompressor createDecompressor() {
    return new Unpacker();
  }
}
