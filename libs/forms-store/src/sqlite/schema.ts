import { draftSummaryFields, formOrderFields } from '@fms/contracts'
import type { SqliteMigration } from '@fms/store-kit'
import { listedFields } from '../lists/form-fields.ts'

/** The index of updateTime covers all columns of filters and orders; every change of a draft writes it anyway. */
const orderIndex = (field: string): string => {
  const columns = ['organizationId', field, 'publicId', ...(field === 'updateTime' ? listedFields : [])]
  return `CREATE INDEX forms_by_${field} ON forms (${[...new Set(columns)].join(', ')}) WHERE isDeleted = 0;`
}

/**
 * Times are milliseconds since the epoch, columns are named after the port's fields. JSON comes last in its row, so that
 * SQLite reads the columns before it without overflow pages. There are no foreign keys: revisions and replies are deleted
 * after their form (docs/decisions/0033-restore-deleted-forms.md).
 */
const forms = `
  CREATE TABLE forms (
    -- The incarnation of the form, and its rowid in formTrigrams. Never used again.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    organizationId TEXT NOT NULL,
    formId TEXT NOT NULL,
    publicId TEXT NOT NULL UNIQUE,
    -- 1 for a form that can be restored. Both values take no space, so a delete overwrites only the first page of the row.
    isDeleted INTEGER NOT NULL,
    createTime INTEGER NOT NULL,
    updateTime INTEGER NOT NULL,
    changeTime INTEGER NOT NULL,
    version INTEGER NOT NULL,
    replyCount INTEGER NOT NULL,
    -- The last number taken, and the last one that was live: 0 for none.
    revisionNumber INTEGER NOT NULL,
    liveNumber INTEGER NOT NULL,
    liveRevisionId TEXT,
    ${draftSummaryFields.map((field) => `${field} TEXT NOT NULL,`).join(' ')}
    foldedName TEXT NOT NULL,
    aiHandoff INTEGER NOT NULL,
    draft TEXT NOT NULL,
    UNIQUE (organizationId, formId)
  ) STRICT;

  -- One for each field that lists sort by; all serve both directions.
  ${formOrderFields.map(orderIndex).join(' ')}
  -- The default order, whose ties have the opposite direction.
  CREATE INDEX forms_by_default ON forms (organizationId, updateTime DESC, publicId) WHERE isDeleted = 0;
  CREATE INDEX forms_with_many_revisions ON forms (revisionNumber) WHERE isDeleted = 0 AND revisionNumber > 10000;

  -- Finds texts that names contain, also of deleted forms. Its entries come from trigramTokens (lists/trigram-tokens.ts).
  CREATE VIRTUAL TABLE formTrigrams USING
    fts5(tokens, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');

  -- The deleted forms that can be restored, with what their list shows.
  CREATE TABLE deletions (
    incarnation INTEGER PRIMARY KEY,
    organizationId TEXT NOT NULL,
    formId TEXT NOT NULL,
    publicId TEXT NOT NULL,
    name TEXT NOT NULL,
    deleteTime INTEGER NOT NULL,
    purgeTime INTEGER NOT NULL,
    deleter TEXT NOT NULL
  ) STRICT;
  CREATE INDEX deletions_by_deleteTime ON deletions (organizationId, deleteTime DESC, formId);
  CREATE INDEX deletions_by_publicId ON deletions (organizationId, publicId);
  CREATE INDEX deletions_by_purgeTime ON deletions (purgeTime);

  -- Forms that are gone, until their revisions and replies are cleared.
  CREATE TABLE remains (incarnation INTEGER PRIMARY KEY, organizationId TEXT NOT NULL) STRICT;
`

const history = `
  CREATE TABLE revisions (
    revisionId TEXT NOT NULL PRIMARY KEY,
    incarnation INTEGER NOT NULL,
    organizationId TEXT NOT NULL,
    number INTEGER NOT NULL,
    commandId TEXT NOT NULL,
    createTime INTEGER NOT NULL,
    publisher TEXT NOT NULL,
    note TEXT NOT NULL,
    form TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX revisions_by_number ON revisions (incarnation, number);
  CREATE UNIQUE INDEX revisions_by_command ON revisions (organizationId, commandId);

  CREATE TABLE replies (
    incarnation INTEGER NOT NULL,
    replyId TEXT NOT NULL,
    PRIMARY KEY (incarnation, replyId)
  ) STRICT, WITHOUT ROWID;

  -- What an organization has. The bytes are those of drafts, revisions and events as JSON in UTF-8, until they are deleted.
  CREATE TABLE usage (
    organizationId TEXT NOT NULL PRIMARY KEY,
    -- Without deleted forms.
    forms INTEGER NOT NULL,
    deletedForms INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    revisions INTEGER NOT NULL,
    revisionBytes INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`

/** `events` has rowids, so that all organizations append to the same page, and large events need no overflow pages. */
const eventLogs = `
  CREATE TABLE events (
    organizationId TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    eventId TEXT NOT NULL,
    formId TEXT NOT NULL,
    time INTEGER NOT NULL,
    -- The request of the change, if it had an id.
    requestId TEXT,
    method TEXT,
    digest TEXT,
    -- The event as JSON, as readers get it.
    event TEXT NOT NULL
  ) STRICT;

  CREATE UNIQUE INDEX events_by_sequence ON events (organizationId, sequence);
  -- Ids come first, and most increase with time: inserts for all organizations change the same few pages.
  CREATE UNIQUE INDEX events_by_id ON events (eventId, organizationId);
  CREATE UNIQUE INDEX events_by_request ON events (requestId, organizationId, method) WHERE requestId IS NOT NULL;
  -- With the time, which the next event of the form has to exceed.
  CREATE INDEX events_by_form ON events (formId, organizationId, sequence, time);

  CREATE TABLE eventLogs (
    organizationId TEXT NOT NULL PRIMARY KEY,
    streamedSequence INTEGER NOT NULL,
    oldestSequence INTEGER NOT NULL,
    -- The time of the oldest event; NULL once retention has left only the newest event.
    oldestTime INTEGER
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX eventLogs_by_oldestTime ON eventLogs (oldestTime) WHERE oldestTime IS NOT NULL;
  -- By the number of events that are in the stream.
  CREATE INDEX eventLogs_by_length ON eventLogs (streamedSequence - oldestSequence);

  -- The logs with events that are not in the stream. Small, so that most events change no page for it.
  CREATE TABLE unstreamedLogs (organizationId TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
`

/** Append only: each file stores how many it has applied. The first one creates new files with the list fields of today. */
export const migrations: readonly SqliteMigration[] = [forms + history + eventLogs]
