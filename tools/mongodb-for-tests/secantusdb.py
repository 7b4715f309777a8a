# Runs `python -m secantus` for tests. The program has no options for these changes.
import re
from functools import lru_cache
from threading import local

from secantus import aggregate, server, sortkey, storage
from secantus.cli import main
from secantus.storage import Storage
from wiredtiger import swig_wiredtiger
from wiredtiger.intpacking import pack_int, unpack_int

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

# Each write packs a dozen keys, for which WiredTiger's library interprets the format character by character. These are
# the formats of the tables: texts that end with a zero byte, integers, and at the end bytes.
is_simple = lru_cache(re.compile("[Sq]*u?").fullmatch)
pack_any, unpack_any = swig_wiredtiger.pack, swig_wiredtiger.unpack


def pack(fmt, *values):
    if not is_simple(fmt):
        return pack_any(fmt, *values)
    packed = b""
    for kind, value in zip(fmt, values):
        if kind == "S":
            packed += value.encode() + b"\0"
        else:
            packed += pack_int(value) if kind == "q" else value
    return packed


def unpack(fmt, packed):
    if not is_simple(fmt):
        return unpack_any(fmt, packed)
    values = []
    for kind in fmt:
        if kind == "S":
            text, packed = packed.split(b"\0", 1)
            values.append(text.decode())
        elif kind == "q":
            value, packed = unpack_int(packed)
            values.append(value)
        else:
            values.append(packed or b"")
    return values


swig_wiredtiger.pack, swig_wiredtiger.unpack = pack, unpack

# The key of a text in an index, without the search for its type.
encode_any = sortkey.encode_value


def encode_value(value, *, collation=None):
    if type(value) is str and collation is None:
        return b"\4" + value.encode().replace(b"\0", b"\0\xff")
    return encode_any(value, collation=collation)


sortkey.encode_value = storage.encode_value = encode_value
sortkey._encode_number = lru_cache(10_000)(sortkey._encode_number)

# The key of a document without arrays in an index of fields that are not nested.
index_keys = storage._index_key_variants


def index_key(doc, key_spec, *, sparse, collation=None):
    values = [doc.get(field) for field in key_spec]
    if sparse or collation or any("." in field for field in key_spec) or any(type(value) is list for value in values):
        return index_keys(doc, key_spec, sparse=sparse, collation=collation)
    parts = map(sortkey.encode_value_directed, values, map(int, key_spec.values()))
    return [sortkey.COMPOUND_SEP.join(parts)]


storage._index_key_variants = index_key

raise SystemExit(main())
