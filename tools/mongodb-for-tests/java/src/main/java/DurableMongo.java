import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.QueryResult;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import de.bwaldvogel.mongo.wire.message.MongoQuery;
import io.netty.channel.Channel;
import java.nio.file.Path;
import org.h2.mvstore.MVStore;

/** MongoDB's protocol on one file, whose answers hold over kill -9: DurableMongo PORT FOLDER. */
public final class DurableMongo {
  public static void main(String[] args) {
    var file = Path.of(args[1], "data.mv").toString();
    // Nobody writes but we, when a command is done: with an executor of its own the store would write later.
    var store = new MVStore.Builder().fileName(file).autoCommitDisabled().open();
    var server = new MongoServer(new DurableBackend(store));
    server.bind("127.0.0.1", Integer.parseInt(args[0]));
    System.out.println(server.getConnectionString());
  }

  /** One command at a time, each with all its documents and indexes in the file before it is answered. */
  private static final class DurableBackend extends H2Backend {
    DurableBackend(MVStore store) {
      super(store);
    }

    @Override
    public synchronized Document handleMessage(MongoMessage message) {
      try {
        return withWireVersion(super.handleMessage(message));
      } finally {
        commit();
      }
    }

    @Override
    public synchronized Document handleCommand(Channel channel, String database, String command, Document query) {
      try {
        return withWireVersion(super.handleCommand(channel, database, command, query));
      } finally {
        commit();
      }
    }

    @Override
    public synchronized QueryResult handleQuery(MongoQuery query) {
      return super.handleQuery(query);
    }

    /** It says to be MongoDB 4.2 at most, which the driver refuses; what the stores ask of 4.4 it can do. */
    private static Document withWireVersion(Document answer) {
      if (answer.containsKey("maxWireVersion")) answer.put("maxWireVersion", 9);
      return answer;
    }
  }
}
