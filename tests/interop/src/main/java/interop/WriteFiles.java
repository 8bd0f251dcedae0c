// HBase writes files of every kind it can, for Cellar to read.
//   WriteFiles DIRECTORY SEED FILES
// FILES for each pair of encoding and codec. Beside them files.tsv: name, Bloom type, codec, description.
package interop;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.ChecksumType;

final class WriteFiles {
  private final java.nio.file.Path directory;
  private final Random random;
  private final DrawCells draw;
  private final Configuration conf = Settings.create();
  private final FileSystem fs = Settings.files(conf);
  private final PrintWriter list;
  private int files;
  private long cells;

  private WriteFiles(java.nio.file.Path directory, long seed) throws IOException {
    this.directory = directory;
    random = new Random(seed);
    draw = new DrawCells(random);
    list = new PrintWriter(directory.resolve("files.tsv").toFile(), "US-ASCII");
  }

  private int oneOf(int... choices) {
    return choices[random.nextInt(choices.length)];
  }

  // Block and index sizes, filters and checksums differ from file to file.
  private void writeOne(DataBlockEncoding encoding, Compression.Algorithm codec, BloomType bloom, String shape)
      throws IOException {
    boolean tags = random.nextBoolean();
    boolean dictionary = tags && random.nextBoolean(); // of tags, which the delta encodings have
    boolean mvcc = random.nextBoolean();
    int blockBytes = oneOf(128, 1024, 4096, 65536, 524288);
    int indexBytes = oneOf(128, 512, 4096, 131072);
    String hash = new String[] {"jenkins", "murmur", "murmur3"}[random.nextInt(3)];
    ChecksumType checksum = ChecksumType.values()[random.nextInt(ChecksumType.values().length)];
    int checksumBytes = oneOf(128, 512, 16384);
    HFileContextBuilder context = new HFileContextBuilder().withCompression(codec).withDataBlockEncoding(encoding)
        .withIncludesTags(tags).withCompressTags(dictionary).withIncludesMvcc(mvcc).withBlockSize(blockBytes)
        .withHBaseCheckSum(true).withChecksumType(checksum).withBytesPerCheckSum(checksumBytes)
        .withCreateTime(1_700_000_000_000L);
    boolean treeIndex = draw.oneIn(40) && Releases.encodeIndex(context);
    Configuration used = new Configuration(conf);
    boolean bareZstd = codec == Compression.Algorithm.ZSTD && random.nextBoolean();
    FramedCodec.Zstd.bare = bareZstd;
    used.setInt("hfile.index.block.max.size", indexBytes);
    used.setInt("hfile.index.block.min.entries", oneOf(2, 4, 16));
    used.setInt("io.storefile.bloom.block.size", oneOf(64, 512, 131072));
    used.set("hbase.hash.type", hash);
    used.setInt("RowPrefixBloomFilter.prefix_length", oneOf(1, 4, 8));
    List<KeyValue> drawn = draw.draw(shape, tags, mvcc);
    String name = String.format("%032x", ++files);
    write(used, name, context, bloom, drawn);
    list.println(String.join("\t", name, bloom.name(), codec.name(),
        encoding + ", " + codec + (bareZstd ? " bare" : "") + ", Bloom " + bloom + " " + hash
            + (tags ? dictionary ? ", tags in a dictionary" : ", tags" : "") + (mvcc ? ", MVCC" : "")
            + (treeIndex ? ", index as a prefix tree" : "") + ", " + shape + " cells, blocks of " + blockBytes
            + ", index chunks of " + indexBytes + ", " + checksum + " each " + checksumBytes + " bytes"));
  }

  private void write(Configuration used, String name, HFileContextBuilder context, BloomType bloom,
      List<KeyValue> drawn) throws IOException {
    StoreFileWriter writer = new StoreFileWriter.Builder(used, new CacheConfig(used), fs)
        .withFilePath(new Path(directory.resolve(name).toUri())).withBloomType(bloom)
        .withMaxKeyCount(Math.max(1, drawn.size())).withFileContext(context.build()).build();
    for (KeyValue cell : drawn) writer.append(cell);
    writer.appendMetadata(random.nextInt(1000), random.nextBoolean());
    writer.appendFileInfo(Bytes.toBytes("note"), draw.bytes(10));
    writer.close();
    try (PrintWriter lines = new PrintWriter(
        Files.newBufferedWriter(directory.resolve(name + ".jsonl"), StandardCharsets.US_ASCII))) {
      for (KeyValue cell : drawn) lines.print(Cells.stored(cell) + "\n");
    }
    cells += drawn.size();
  }

  public static void main(String[] arguments) throws IOException {
    java.nio.file.Path directory = Files.createDirectories(Paths.get(arguments[0]).toAbsolutePath());
    WriteFiles all = new WriteFiles(directory, Long.parseLong(arguments[1]));
    int files = Integer.parseInt(arguments[2]);
    BloomType[] blooms = BloomType.values();
    List<String> shapes = DrawCells.SHAPES;
    for (DataBlockEncoding encoding : DataBlockEncoding.values()) {
      for (Compression.Algorithm codec : Settings.codecs()) {
        int first = all.random.nextInt(blooms.length * shapes.size());
        for (int i = first; i < first + files; ++i)
          all.writeOne(encoding, codec, blooms[i % blooms.length], shapes.get((i / blooms.length + i) % shapes.size()));
      }
    }
    all.list.close();
    System.out.println("counted " + all.files + " files");
    System.out.println("counted " + all.cells + " cells");
  }
}
