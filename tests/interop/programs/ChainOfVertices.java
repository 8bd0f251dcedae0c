// A graph in JanusGraph, whose storage is an HBase: a chain of vertices, written by one JanusGraph and read by another.
//   ChainOfVertices MASTERS VERTICES  (prints the numbers that it reads)

import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.__;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.janusgraph.core.JanusGraph;
import org.janusgraph.core.JanusGraphFactory;
import org.janusgraph.core.JanusGraphTransaction;

final class ChainOfVertices {
  private static JanusGraph open(String masters) {
    String client = "storage.hbase.ext.";
    return JanusGraphFactory.build()
        .set("storage.backend", "hbase")
        .set("storage.hostname", "localhost")
        .set("storage.hbase.table", "graph")
        .set(client + "hbase.client.registry.impl", "org.apache.hadoop.hbase.client.RpcConnectionRegistry")
        .set(client + "hbase.masters", masters)
        .open();
  }

  private static void write(JanusGraph graph, int vertices) {
    JanusGraphTransaction transaction = graph.newTransaction();
    Vertex last = null;
    for (int i = 0; i < vertices; ++i) {
      Vertex vertex = transaction.addVertex("name", "v" + i);
      if (last != null) last.addEdge("next", vertex, "weight", i);
      last = vertex;
    }
    transaction.commit();
  }

  private static void change(JanusGraph graph) {
    GraphTraversalSource all = graph.traversal();
    all.V().has("name", "v3").property("name", "three").iterate();
    all.V().has("name", "v4").outE("next").drop().iterate();
    all.tx().commit();
  }

  private static void read(JanusGraph graph) {
    GraphTraversalSource all = graph.traversal();
    System.out.println("vertices " + all.V().count().next());
    System.out.println("edges " + all.E().count().next());
    System.out.println("weights " + all.E().values("weight").sum().next());
    System.out.println("path " + all.V().has("name", "v1").repeat(__.out("next")).emit().values("name").toList());
    all.tx().commit();
  }

  public static void main(String[] arguments) {
    JanusGraph writer = open(arguments[0]);
    write(writer, Integer.parseInt(arguments[1]));
    change(writer);
    writer.close();
    JanusGraph reader = open(arguments[0]);
    read(reader);
    reader.close();
    System.exit(0); // threads of its client would keep the process alive
  }
}
