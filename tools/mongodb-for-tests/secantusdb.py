# Runs `python -m secantus` for tests. The program has no options for these changes.
from threading import local

from secantus import aggregate, server
from secantus.cli import main
from secantus.storage import Storage

# Transactions end 5 s after their last request, as production sets by transactionLifetimeLimitSeconds.
server.SecantusDBServer.__init__.__kwdefaults__["transaction_lifetime_seconds"] = 5.0

# With a hint, it reads the whole index, whatever the filter. Without one, it finds an index for the filter.
find_matching = Storage.find_matching


def find_by_filter(self, db, coll, filter=None, *, hint=None, **options):
    if hint is not None:
        self.validate_hint(db, coll, hint)
    return find_matching(self, db, coll, filter, **options)


Storage.find_matching = find_by_filter

# A command reads the definitions of a collection's indexes once, instead of ten times.
command = local()
dispatch = server.dispatch
iter_indexes = Storage._iter_indexes


def dispatch_command(doc, context):
    command.indexes = None if "createIndexes" in doc else {}
    return dispatch(doc, context)


def read_indexes(self, db, coll):
    known = getattr(command, "indexes", None)
    if known is None:
        return iter_indexes(self, db, coll)
    if (db, coll) not in known:
        known[db, coll] = list(iter_indexes(self, db, coll))
    return known[db, coll]


server.dispatch = dispatch_command
Storage._iter_indexes = read_indexes


# A `$unionWith` reads the documents of the `$match` that its pipeline begins with, instead of all.
def union_with(spec, documents, context):
    pipeline = spec["pipeline"]
    found = context.storage.find_matching(context.db_name, spec["coll"], pipeline[0].get("$match"))
    inner = aggregate.PipelineContext(storage=context.storage, db_name=context.db_name)
    return [*documents, *aggregate.apply_pipeline(found, pipeline, inner)]


aggregate._STAGES["$unionWith"] = union_with

raise SystemExit(main())
