// What HBase 2.4 and 2.6 call differently, found by name when the program runs.
package interop;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.StoreFileInfo;

final class Releases {
  private Releases() {}

  static HFileScanner scanner(HFile.Reader reader, Configuration conf, boolean pread) throws IOException {
    try {
      try {
        return (HFileScanner) HFile.Reader.class
            .getMethod("getScanner", Configuration.class, boolean.class, boolean.class, boolean.class)
            .invoke(reader, conf, false, pread, false);
      } catch (NoSuchMethodException earlier) {
        return (HFileScanner) HFile.Reader.class.getMethod("getScanner", boolean.class, boolean.class)
            .invoke(reader, false, pread);
      }
    } catch (ReflectiveOperationException e) {
      throw unwrapped(e);
    }
  }

  static HStoreFile storeFile(FileSystem fs, Path path, Configuration conf, BloomType bloom) throws IOException {
    try {
      StoreFileInfo info;
      try {
        Method create = StoreFileInfo.class.getMethod(
            "createStoreFileInfoForHFile", Configuration.class, FileSystem.class, Path.class, boolean.class);
        info = (StoreFileInfo) create.invoke(null, conf, fs, path, true);
      } catch (NoSuchMethodException earlier) {
        info = StoreFileInfo.class.getConstructor(Configuration.class, FileSystem.class, Path.class, boolean.class)
            .newInstance(conf, fs, path, true);
      }
      HStoreFile file;
      try {
        Class<?> metrics = Class.forName("org.apache.hadoop.hbase.io.hfile.BloomFilterMetrics");
        file = HStoreFile.class.getConstructor(StoreFileInfo.class, BloomType.class, CacheConfig.class, metrics)
            .newInstance(info, bloom, new CacheConfig(conf), metrics.getConstructor().newInstance());
      } catch (ClassNotFoundException earlier) {
        file = new HStoreFile(info, bloom, new CacheConfig(conf));
      }
      file.initReader();
      return file;
    } catch (ReflectiveOperationException e) {
      throw unwrapped(e);
    }
  }

  // Index blocks coded as a prefix tree, which HBase 2.6 can; false where it does not exist.
  @SuppressWarnings({"unchecked", "rawtypes"})
  static boolean encodeIndex(HFileContextBuilder context) throws IOException {
    try {
      Class encoding = Class.forName("org.apache.hadoop.hbase.io.encoding.IndexBlockEncoding");
      HFileContextBuilder.class.getMethod("withIndexBlockEncoding", encoding)
          .invoke(context, Enum.valueOf(encoding, "PREFIX_TREE"));
      return true;
    } catch (ClassNotFoundException | NoSuchMethodException earlier) {
      return false;
    } catch (ReflectiveOperationException e) {
      throw unwrapped(e);
    }
  }

  private static IOException unwrapped(ReflectiveOperationException e) {
    Throwable cause = e instanceof InvocationTargetException ? e.getCause() : e;
    return cause instanceof IOException ? (IOException) cause : new IOException(cause);
  }
}
