/** Schema of the bare server (B0): one row per form, an index for each of its two lists, and the live revisions. */
export const bareSchema = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS forms (
    id TEXT NOT NULL PRIMARY KEY,
    organizationId TEXT NOT NULL,
    name TEXT NOT NULL,
    updateTime INTEGER NOT NULL,
    document TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS forms_by_updateTime ON forms (organizationId, updateTime DESC, id);
  CREATE INDEX IF NOT EXISTS forms_by_name ON forms (organizationId, name);
  CREATE TABLE IF NOT EXISTS liveRevisions (
    formId TEXT NOT NULL PRIMARY KEY,
    organizationId TEXT NOT NULL,
    etag TEXT NOT NULL,
    document TEXT NOT NULL
  ) STRICT;
`
