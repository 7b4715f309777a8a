import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { SqliteMigration, SqliteScript } from '@fms/store-kit'
import { trigramTokens } from './lists/trigram-tokens.ts'

/** Times are milliseconds since the epoch, columns are named after the port's fields. */
const first = `
  CREATE TABLE forms (
    organizationId TEXT NOT NULL,
    formId TEXT NOT NULL PRIMARY KEY,
    publicId TEXT NOT NULL UNIQUE,
    createTime INTEGER NOT NULL,
    updateTime INTEGER NOT NULL,
    version INTEGER NOT NULL,
    replyCount INTEGER NOT NULL,
    -- The last number taken, and the one that is live: 0 for none.
    revisionNumber INTEGER NOT NULL,
    liveNumber INTEGER NOT NULL,
    liveRevisionId TEXT,
    -- What lists filter and sort by stands beside the document.
    name TEXT NOT NULL,
    foldedName TEXT NOT NULL,
    type TEXT NOT NULL,
    draft TEXT NOT NULL
  ) STRICT;

  -- One for each order of a list. In descending orders, too, publicId breaks ties ascending.
  CREATE INDEX forms_by_publicId ON forms (organizationId, publicId);
  CREATE INDEX forms_by_name ON forms (organizationId, name, publicId);
  CREATE INDEX forms_by_name_desc ON forms (organizationId, name DESC, publicId);
  CREATE INDEX forms_by_createTime ON forms (organizationId, createTime, publicId);
  CREATE INDEX forms_by_createTime_desc ON forms (organizationId, createTime DESC, publicId);
  CREATE INDEX forms_by_updateTime ON forms (organizationId, updateTime, publicId);
  CREATE INDEX forms_by_updateTime_desc ON forms (organizationId, updateTime DESC, publicId);
  CREATE INDEX forms_by_replyCount ON forms (organizationId, replyCount, publicId);
  CREATE INDEX forms_by_replyCount_desc ON forms (organizationId, replyCount DESC, publicId);

  -- For filters by type, and for the totals of searches, which read this alone.
  CREATE INDEX forms_by_type ON forms (organizationId, type);
  CREATE INDEX forms_by_foldedName ON forms (organizationId, foldedName);

  -- How many forms an organization has, so that the totalSize of an unfiltered list counts nothing.
  CREATE TABLE formCounts (organizationId TEXT NOT NULL PRIMARY KEY, forms INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TRIGGER count_created_form AFTER INSERT ON forms BEGIN
    INSERT INTO formCounts VALUES (new.organizationId, 1)
      ON CONFLICT DO UPDATE SET forms = forms + 1;
  END;

  CREATE TRIGGER count_deleted_form AFTER DELETE ON forms BEGIN
    UPDATE formCounts SET forms = forms - 1 WHERE organizationId = old.organizationId;
  END;

  CREATE TABLE revisions (
    organizationId TEXT NOT NULL,
    formId TEXT NOT NULL REFERENCES forms ON DELETE CASCADE,
    revisionId TEXT NOT NULL PRIMARY KEY,
    number INTEGER NOT NULL,
    commandId TEXT NOT NULL,
    createTime INTEGER NOT NULL,
    form TEXT NOT NULL
  ) STRICT;

  CREATE UNIQUE INDEX revisions_by_number ON revisions (formId, number);
  CREATE UNIQUE INDEX revisions_by_command ON revisions (organizationId, commandId);

  CREATE TABLE replies (
    formId TEXT NOT NULL REFERENCES forms ON DELETE CASCADE,
    replyId TEXT NOT NULL,
    PRIMARY KEY (formId, replyId)
  ) STRICT, WITHOUT ROWID;
`

const second = `
  DROP TRIGGER count_created_form;
  CREATE TRIGGER count_created_form AFTER INSERT ON forms BEGIN
    UPDATE formCounts SET forms = forms + 1 WHERE organizationId = new.organizationId;
    INSERT INTO formCounts SELECT new.organizationId, 1
      WHERE NOT EXISTS (SELECT 1 FROM formCounts WHERE organizationId = new.organizationId);
  END;
`

/** The ascending indexes serve both directions, and forms_by_name counts the matches of searches. */
const third = `
  DROP INDEX forms_by_foldedName;
  DROP INDEX forms_by_name;
  CREATE INDEX forms_by_name ON forms (organizationId, name, publicId, foldedName);
  DROP INDEX forms_by_name_desc;
  DROP INDEX forms_by_createTime_desc;
  DROP INDEX forms_by_updateTime_desc;
  DROP INDEX forms_by_replyCount_desc;
`

/** Copies AI Handoff out of the draft, because `live` shows it. Foreign keys are no longer enforced. */
const fourth = `
  ALTER TABLE forms ADD COLUMN aiHandoff INTEGER NOT NULL DEFAULT 0;
  UPDATE forms SET aiHandoff = 1 WHERE json_extract(draft, '$.aiHandoff.enabled');

  -- What an organization has: its forms, and the bytes of its drafts and revisions as JSON in UTF-8.
  CREATE TABLE usage (
    organizationId TEXT NOT NULL PRIMARY KEY,
    forms INTEGER NOT NULL,
    bytes INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO usage SELECT organizationId, count(*), sum(octet_length(draft)) FROM forms GROUP BY organizationId;
  INSERT INTO usage SELECT organizationId, 0, sum(octet_length(form)) FROM revisions WHERE true GROUP BY organizationId
    ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;

  DROP TRIGGER count_created_form;
  DROP TRIGGER count_deleted_form;
  DROP TABLE formCounts;
  CREATE TRIGGER count_created_form AFTER INSERT ON forms BEGIN
    UPDATE usage SET forms = forms + 1, bytes = bytes + octet_length(new.draft)
      WHERE organizationId = new.organizationId;
    INSERT INTO usage SELECT new.organizationId, 1, octet_length(new.draft)
      WHERE NOT EXISTS (SELECT 1 FROM usage WHERE organizationId = new.organizationId);
  END;
  CREATE TRIGGER count_changed_draft AFTER UPDATE OF draft ON forms
  WHEN octet_length(new.draft) <> octet_length(old.draft) BEGIN
    UPDATE usage SET bytes = bytes + octet_length(new.draft) - octet_length(old.draft)
      WHERE organizationId = new.organizationId;
  END;
  CREATE TRIGGER count_deleted_form AFTER DELETE ON forms BEGIN
    UPDATE usage SET forms = forms - 1, bytes = bytes - octet_length(old.draft)
      WHERE organizationId = old.organizationId;
  END;
  CREATE TRIGGER count_stored_revision AFTER INSERT ON revisions BEGIN
    UPDATE usage SET bytes = bytes + octet_length(new.form) WHERE organizationId = new.organizationId;
  END;
  CREATE TRIGGER count_cleared_revision AFTER DELETE ON revisions BEGIN
    UPDATE usage SET bytes = bytes - octet_length(old.form) WHERE organizationId = old.organizationId;
  END;

  -- Forms that are gone, while their revisions and replies are being cleared.
  CREATE TABLE deletions (
    formId TEXT NOT NULL PRIMARY KEY,
    organizationId TEXT NOT NULL,
    deleteTime INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`

/**
 * forms_by_updateTime covers all columns of filters and orders; every change of a draft writes it anyway. forms_by_default
 * serves the default order, whose ties have the opposite direction. formTrigrams finds texts that names contain; its
 * entries come from `trigramTokens` (lists/trigram-tokens.ts).
 */
const lists = `
  DROP INDEX forms_by_name;
  CREATE INDEX forms_by_name ON forms (organizationId, name, publicId);
  DROP INDEX forms_by_updateTime;
  CREATE INDEX forms_by_updateTime ON forms
    (organizationId, updateTime, publicId, name, foldedName, type, createTime, replyCount);
  CREATE INDEX forms_by_default ON forms (organizationId, updateTime DESC, publicId);
  DROP INDEX forms_by_type;

  CREATE VIRTUAL TABLE formTrigrams USING
    fts5(tokens, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');

  CREATE TRIGGER index_created_form AFTER INSERT ON forms BEGIN
    INSERT INTO formTrigrams (rowid, tokens) VALUES (new.rowid, trigramTokens(new.organizationId, new.foldedName));
  END;

  CREATE TRIGGER index_renamed_form AFTER UPDATE OF foldedName ON forms
  WHEN new.foldedName <> old.foldedName BEGIN
    DELETE FROM formTrigrams WHERE rowid = old.rowid;
    INSERT INTO formTrigrams (rowid, tokens) VALUES (new.rowid, trigramTokens(new.organizationId, new.foldedName));
  END;

  CREATE TRIGGER index_deleted_form AFTER DELETE ON forms BEGIN
    DELETE FROM formTrigrams WHERE rowid = old.rowid;
  END;
`

/** Forms that one statement indexes: SQLite frees the results of custom functions at the end of a statement. */
const indexBatchSize = 1_000

const fifth: SqliteScript = (database) => {
  database.exec(lists)
  const lastOf = database.prepare(
    'SELECT max(rowid) AS last FROM (SELECT rowid FROM forms WHERE rowid > ? ORDER BY rowid LIMIT ?)',
  )
  const index = database.prepare(
    `INSERT INTO formTrigrams (rowid, tokens)
     SELECT rowid, trigramTokens(organizationId, foldedName) FROM forms WHERE rowid > ? AND rowid <= ?`,
  )
  for (let after = 0; ; ) {
    const last = lastOf.get(after, indexBatchSize)?.last
    if (typeof last !== 'number') return
    index.run(after, last)
    after = last
  }
}

/**
 * The logs of events. `events` has rowids, so that the events of all organizations are appended to the same page, and
 * large ones need no overflow pages.
 */
const eventLogs = `
  CREATE TABLE events (
    organizationId TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    eventId TEXT NOT NULL,
    formId TEXT NOT NULL,
    time INTEGER NOT NULL,
    -- The event as JSON, as readers get it.
    event TEXT NOT NULL
  ) STRICT;

  CREATE UNIQUE INDEX events_by_sequence ON events (organizationId, sequence);
  -- Ids come first, and most increase with time: inserts for all organizations change the same few pages.
  CREATE UNIQUE INDEX events_by_id ON events (eventId, organizationId);
  -- With the time, which the next event of the form has to exceed.
  CREATE INDEX events_by_form ON events (formId, organizationId, sequence, time);

  CREATE TABLE eventLogs (
    organizationId TEXT NOT NULL PRIMARY KEY,
    streamedSequence INTEGER NOT NULL,
    -- The time of the oldest event; NULL once retention has left only the newest event.
    oldestTime INTEGER
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX eventLogs_by_oldestTime ON eventLogs (oldestTime) WHERE oldestTime IS NOT NULL;

  -- The logs with events that are not in the stream. Small, so that most events change no page for it.
  CREATE TABLE unstreamedLogs (organizationId TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
`

/** After the snapshot in a row, so reading them reads all overflow pages of a large snapshot. */
const publishers = `
  ALTER TABLE revisions ADD COLUMN publisher TEXT NOT NULL DEFAULT '';
  ALTER TABLE revisions ADD COLUMN note TEXT NOT NULL DEFAULT '';
`

/**
 * What operators need to bound revisions: the forms with many, and the number and bytes of each organization's revisions,
 * also of deleted forms, until they are cleared. Only forms published more than 10,000 times are in the index.
 */
const revisionGrowth = `
  CREATE INDEX forms_with_many_revisions ON forms (revisionNumber) WHERE revisionNumber > 10000;

  ALTER TABLE usage ADD COLUMN revisions INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE usage ADD COLUMN revisionBytes INTEGER NOT NULL DEFAULT 0;
  UPDATE usage SET revisions = counted.revisions, revisionBytes = counted.bytes FROM (
    SELECT organizationId, count(*) AS revisions, sum(octet_length(form)) AS bytes FROM revisions GROUP BY organizationId
  ) AS counted WHERE counted.organizationId = usage.organizationId;

  DROP TRIGGER count_created_form;
  CREATE TRIGGER count_created_form AFTER INSERT ON forms BEGIN
    UPDATE usage SET forms = forms + 1, bytes = bytes + octet_length(new.draft)
      WHERE organizationId = new.organizationId;
    INSERT INTO usage (organizationId, forms, bytes) SELECT new.organizationId, 1, octet_length(new.draft)
      WHERE NOT EXISTS (SELECT 1 FROM usage WHERE organizationId = new.organizationId);
  END;
  DROP TRIGGER count_stored_revision;
  CREATE TRIGGER count_stored_revision AFTER INSERT ON revisions BEGIN
    UPDATE usage SET bytes = bytes + octet_length(new.form),
      revisions = revisions + 1, revisionBytes = revisionBytes + octet_length(new.form)
      WHERE organizationId = new.organizationId;
  END;
  DROP TRIGGER count_cleared_revision;
  CREATE TRIGGER count_cleared_revision AFTER DELETE ON revisions BEGIN
    UPDATE usage SET bytes = bytes - octet_length(old.form),
      revisions = revisions - 1, revisionBytes = revisionBytes - octet_length(old.form)
      WHERE organizationId = old.organizationId;
  END;
`

/**
 * Form ids are unique in their organization: all keys begin with it. Rowids stay, since `formTrigrams` has them, and
 * columns keep their order: a process of an earlier release may still have a prepared statement.
 */
const organizationKeys: SqliteScript = (database) => {
  database.exec(rebuiltTables)
  removeReference(database)
}

/**
 * Removes the reference of `revisions` to the former key of `forms` without a copy of the table
 * (sqlite.org/lang_altertable.html#otheralter): with foreign keys enforced, every change of a revision would fail.
 */
const removeReference = (database: DatabaseSync): void => {
  database.enableDefensive(false)
  const { schema_version: version } = database.prepare('PRAGMA schema_version').get()!
  database.exec(`
    PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = replace(sql, ' REFERENCES forms ON DELETE CASCADE', '')
      WHERE type = 'table' AND name = 'revisions';
    PRAGMA schema_version = ${Number(version) + 1};
    PRAGMA writable_schema = RESET;
  `)
  database.enableDefensive(true)
}

const rebuiltTables = `
  CREATE TABLE newForms (
    organizationId TEXT NOT NULL,
    formId TEXT NOT NULL,
    publicId TEXT NOT NULL UNIQUE,
    createTime INTEGER NOT NULL,
    updateTime INTEGER NOT NULL,
    version INTEGER NOT NULL,
    replyCount INTEGER NOT NULL,
    -- The last number taken, and the last one that was live: 0 for none.
    revisionNumber INTEGER NOT NULL,
    liveNumber INTEGER NOT NULL,
    liveRevisionId TEXT,
    name TEXT NOT NULL,
    foldedName TEXT NOT NULL,
    type TEXT NOT NULL,
    draft TEXT NOT NULL,
    aiHandoff INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (organizationId, formId)
  ) STRICT;
  INSERT INTO newForms (rowid, organizationId, formId, publicId, createTime, updateTime, version, replyCount,
      revisionNumber, liveNumber, liveRevisionId, name, foldedName, type, draft, aiHandoff)
    SELECT rowid, organizationId, formId, publicId, createTime, updateTime, version, replyCount,
      revisionNumber, liveNumber, liveRevisionId, name, foldedName, type, draft, aiHandoff
    FROM forms ORDER BY rowid;

  CREATE TABLE newReplies (
    organizationId TEXT NOT NULL,
    formId TEXT NOT NULL,
    replyId TEXT NOT NULL,
    PRIMARY KEY (organizationId, formId, replyId)
  ) STRICT, WITHOUT ROWID;
  -- In the order of the key, without a sort, and without the replies of deleted forms that are not cleared yet.
  INSERT INTO newReplies SELECT organizationId, formId, replyId
    FROM (SELECT organizationId, formId FROM newForms ORDER BY organizationId, formId) CROSS JOIN replies USING (formId);
  DROP TABLE replies;
  ALTER TABLE newReplies RENAME TO replies;

  CREATE TABLE newDeletions (
    organizationId TEXT NOT NULL,
    formId TEXT NOT NULL,
    PRIMARY KEY (organizationId, formId)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO newDeletions SELECT organizationId, formId FROM deletions;
  DROP TABLE deletions;
  ALTER TABLE newDeletions RENAME TO deletions;

  DROP TABLE forms;
  ALTER TABLE newForms RENAME TO forms;
  CREATE INDEX forms_by_publicId ON forms (organizationId, publicId);
  CREATE INDEX forms_by_name ON forms (organizationId, name, publicId);
  CREATE INDEX forms_by_createTime ON forms (organizationId, createTime, publicId);
  CREATE INDEX forms_by_updateTime ON forms
    (organizationId, updateTime, publicId, name, foldedName, type, createTime, replyCount);
  CREATE INDEX forms_by_default ON forms (organizationId, updateTime DESC, publicId);
  CREATE INDEX forms_by_replyCount ON forms (organizationId, replyCount, publicId);
  CREATE INDEX forms_with_many_revisions ON forms (revisionNumber) WHERE revisionNumber > 10000;

  CREATE TRIGGER count_created_form AFTER INSERT ON forms BEGIN
    UPDATE usage SET forms = forms + 1, bytes = bytes + octet_length(new.draft)
      WHERE organizationId = new.organizationId;
    INSERT INTO usage (organizationId, forms, bytes) SELECT new.organizationId, 1, octet_length(new.draft)
      WHERE NOT EXISTS (SELECT 1 FROM usage WHERE organizationId = new.organizationId);
  END;
  CREATE TRIGGER count_changed_draft AFTER UPDATE OF draft ON forms
  WHEN octet_length(new.draft) <> octet_length(old.draft) BEGIN
    UPDATE usage SET bytes = bytes + octet_length(new.draft) - octet_length(old.draft)
      WHERE organizationId = new.organizationId;
  END;
  CREATE TRIGGER count_deleted_form AFTER DELETE ON forms BEGIN
    UPDATE usage SET forms = forms - 1, bytes = bytes - octet_length(old.draft)
      WHERE organizationId = old.organizationId;
  END;
  CREATE TRIGGER index_created_form AFTER INSERT ON forms BEGIN
    INSERT INTO formTrigrams (rowid, tokens) VALUES (new.rowid, trigramTokens(new.organizationId, new.foldedName));
  END;
  CREATE TRIGGER index_renamed_form AFTER UPDATE OF foldedName ON forms
  WHEN new.foldedName <> old.foldedName BEGIN
    DELETE FROM formTrigrams WHERE rowid = old.rowid;
    INSERT INTO formTrigrams (rowid, tokens) VALUES (new.rowid, trigramTokens(new.organizationId, new.foldedName));
  END;
  CREATE TRIGGER index_deleted_form AFTER DELETE ON forms BEGIN
    DELETE FROM formTrigrams WHERE rowid = old.rowid;
  END;

  DROP INDEX revisions_by_number;
  CREATE UNIQUE INDEX revisions_by_number ON revisions (organizationId, formId, number);
`

/**
 * Forms that can be restored: their rows, without the indexes and triggers of `forms`. They count in the bytes of their
 * organization and not in its forms. The draft comes last, so that a list reads the beginnings of rows.
 */
const deletedForms = `
  ALTER TABLE usage ADD COLUMN deletedForms INTEGER NOT NULL DEFAULT 0;

  CREATE TABLE deletedForms (
    organizationId TEXT NOT NULL,
    formId TEXT NOT NULL,
    publicId TEXT NOT NULL UNIQUE,
    createTime INTEGER NOT NULL,
    updateTime INTEGER NOT NULL,
    version INTEGER NOT NULL,
    replyCount INTEGER NOT NULL,
    revisionNumber INTEGER NOT NULL,
    liveNumber INTEGER NOT NULL,
    liveRevisionId TEXT,
    name TEXT NOT NULL,
    foldedName TEXT NOT NULL,
    type TEXT NOT NULL,
    aiHandoff INTEGER NOT NULL,
    deleteTime INTEGER NOT NULL,
    purgeTime INTEGER NOT NULL,
    deleter TEXT NOT NULL,
    draft TEXT NOT NULL,
    PRIMARY KEY (organizationId, formId)
  ) STRICT;
  CREATE INDEX deletedForms_by_deleteTime ON deletedForms (organizationId, deleteTime DESC, formId);
  CREATE INDEX deletedForms_by_publicId ON deletedForms (organizationId, publicId);
  CREATE INDEX deletedForms_by_purgeTime ON deletedForms (purgeTime);

  CREATE TRIGGER count_restorable_form AFTER INSERT ON deletedForms BEGIN
    UPDATE usage SET deletedForms = deletedForms + 1, bytes = bytes + octet_length(new.draft)
      WHERE organizationId = new.organizationId;
    INSERT INTO usage (organizationId, forms, bytes, deletedForms)
      SELECT new.organizationId, 0, octet_length(new.draft), 1
      WHERE NOT EXISTS (SELECT 1 FROM usage WHERE organizationId = new.organizationId);
  END;
  CREATE TRIGGER count_purged_form AFTER DELETE ON deletedForms BEGIN
    UPDATE usage SET deletedForms = deletedForms - 1, bytes = bytes - octet_length(old.draft)
      WHERE organizationId = old.organizationId;
  END;
`

/** The request of a change, in the row of its event. Ids come first, as in events_by_id. */
const requestIds = `
  ALTER TABLE events ADD COLUMN requestId TEXT;
  ALTER TABLE events ADD COLUMN method TEXT;
  ALTER TABLE events ADD COLUMN digest TEXT;
  CREATE UNIQUE INDEX events_by_request ON events (requestId, organizationId, method) WHERE requestId IS NOT NULL;
`

/**
 * Append only: each file stores how many it has applied. The first five admit no earlier releases: each drops an index
 * that their lists name, or adds a trigger that they cannot run. `organizationKeys` does not either: earlier releases find
 * a form by its id alone, and would change the forms of two organizations.
 */
export const migrations: readonly SqliteMigration[] = [
  first,
  second,
  third,
  fourth,
  fifth,
  // Release 0.1.0 has five. It records no events.
  { script: eventLogs, oldestVersion: 5 },
  // Release 0.1.0 stores revisions without publisher and note.
  { script: publishers, oldestVersion: 5 },
  // Triggers count revisions, also those that release 0.1.0 stores.
  { script: revisionGrowth, oldestVersion: 5 },
  organizationKeys,
  deletedForms,
  requestIds,
]

/** Custom SQL functions of triggers and migrations. Every connection that writes needs them. */
export const functions = {
  trigramTokens: (organizationId: SQLOutputValue, foldedName: SQLOutputValue) =>
    trigramTokens(organizationId as string, foldedName as string),
}
