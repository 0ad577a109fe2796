// A MongoDB server in memory for tests, where no mongod is to be had. Prints its address when it listens, and ends when
// its standard input does, so that it never outlives who started it.
//
// The library finds documents by an index only where a query names the fields of a unique one and nothing else; otherwise it reads
// the whole collection. The store asks for ranges of `_id` and for an `_id` with a condition, many times a second and of collections
// that grow, so these are found here as a server would find them.

import de.bwaldvogel.mongo.MongoDatabase;
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.CollectionOptions;
import de.bwaldvogel.mongo.backend.CursorRegistry;
import de.bwaldvogel.mongo.backend.QueryResult;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.backend.memory.MemoryCollection;
import de.bwaldvogel.mongo.backend.memory.MemoryDatabase;
import de.bwaldvogel.mongo.bson.Document;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.TreeSet;

public class Main {
  public static void main(String[] arguments) throws Exception {
    OrderedBackend backend = new OrderedBackend();
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

class OrderedBackend extends MemoryBackend {
  @Override
  public MemoryDatabase openOrCreateDatabase(String name) {
    return new OrderedDatabase(name, getCursorRegistry());
  }
}

class OrderedDatabase extends MemoryDatabase {
  OrderedDatabase(String name, CursorRegistry cursors) {
    super(name, cursors);
  }

  @Override
  protected MemoryCollection openOrCreateCollection(String name, CollectionOptions options) {
    return new OrderedCollection(this, name, options, cursorRegistry);
  }
}

/** A collection that knows the order of those of its `_id` that are texts. */
class OrderedCollection extends MemoryCollection {
  private final TreeMap<String, Integer> positions = new TreeMap<>();

  OrderedCollection(MongoDatabase database, String name, CollectionOptions options, CursorRegistry cursors) {
    super(database, name, options, cursors);
  }

  @Override
  protected Integer addDocumentInternal(Document document) {
    Integer position = super.addDocumentInternal(document);
    if (document.get("_id") instanceof String id) positions.put(id, position);
    return position;
  }

  @Override
  protected void removeDocument(Integer position) {
    if (getDocument(position).get("_id") instanceof String id) positions.remove(id);
    super.removeDocument(position);
  }

  @Override
  protected QueryResult matchDocuments(
      Document query, Document order, int skip, int limit, int batch, Document fields) {
    Collection<Integer> found = candidates(query);
    return found == null
        ? super.matchDocuments(query, order, skip, limit, batch, fields)
        : matchDocuments(query, found, order, skip, limit, batch, fields);
  }

  /** Where all documents are that a query may match, in the order of their `_id`; null when its `_id` does not say. */
  private Collection<Integer> candidates(Document query) {
    Object id = query.get("_id");
    if (id instanceof String text) return at(List.of(text));
    if (id instanceof Document conditions) return candidatesOf(conditions);
    if (query.get("$or") instanceof Collection<?> alternatives) {
      TreeMap<String, Integer> all = new TreeMap<>();
      for (Object one : alternatives) {
        Collection<Integer> found = one instanceof Document condition ? candidates(condition) : null;
        if (found == null) return null;
        for (Integer position : found) all.put((String) getDocument(position).get("_id"), position);
      }
      return all.values();
    }
    return null;
  }

  private Collection<Integer> candidatesOf(Document conditions) {
    if (conditions.get("$in") instanceof Collection<?> ids) {
      return ids.stream().allMatch(String.class::isInstance)
          ? at(new TreeSet<>(ids.stream().map(String.class::cast).toList()))
          : null;
    }
    NavigableMap<String, Integer> range = positions;
    for (Map.Entry<String, Object> one : conditions.entrySet()) {
      if (!(one.getValue() instanceof String bound)) return null;
      switch (one.getKey()) {
        case "$gt" -> range = range.isEmpty() ? range : after(range, bound, false);
        case "$gte" -> range = range.isEmpty() ? range : after(range, bound, true);
        case "$lt" -> range = range.isEmpty() ? range : before(range, bound, false);
        case "$lte" -> range = range.isEmpty() ? range : before(range, bound, true);
        default -> {
          return null;
        }
      }
    }
    return range.values();
  }

  // A part of a map refuses bounds outside of its own.
  private static NavigableMap<String, Integer> after(
      NavigableMap<String, Integer> range, String bound, boolean included) {
    return bound.compareTo(range.firstKey()) <= 0 && (included || !bound.equals(range.firstKey()))
        ? range
        : bound.compareTo(range.lastKey()) > 0 ? new TreeMap<>() : range.tailMap(bound, included);
  }

  private static NavigableMap<String, Integer> before(
      NavigableMap<String, Integer> range, String bound, boolean included) {
    return bound.compareTo(range.lastKey()) >= 0 && (included || !bound.equals(range.lastKey()))
        ? range
        : bound.compareTo(range.firstKey()) < 0 ? new TreeMap<>() : range.headMap(bound, included);
  }

  private Collection<Integer> at(Collection<String> ids) {
    List<Integer> found = new ArrayList<>();
    for (String id : ids) {
      Integer position = positions.get(id);
      if (position != null) found.add(position);
    }
    return found;
  }
}
