// A MongoDB server in memory for tests, where no mongod is to be had. Prints its address when it listens, and ends when
// its standard input does, so that it never outlives who started it.

import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.util.List;

public class Main {
  public static void main(String[] arguments) throws Exception {
    MemoryBackend backend = new MemoryBackend();
    // The newest version it knows is too old for the driver, though it can do all that is asked of it here.
    backend.version(
        new MongoVersion() {
          public List<Integer> getVersionArray() {
            return List.of(7, 0, 0);
          }

          public String toVersionString() {
            return "7.0.0";
          }

          public int getWireVersion() {
            return 21;
          }
        });
    MongoServer server = new MongoServer(backend);
    server.bind("127.0.0.1", 0);
    System.out.println("ready " + server.getConnectionString());
    while (System.in.read() >= 0) {}
    server.shutdownNow();
    System.exit(0);
  }
}
