import type { SqliteMigration } from '@fms/store-kit'

/** Times are milliseconds since the epoch, columns are named after the port's fields. */
const first = `
  CREATE TABLE users (
    userId TEXT NOT NULL PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    createTime INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE organizations (
    organizationId TEXT NOT NULL PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    logo TEXT,
    metadata TEXT,
    createTime INTEGER NOT NULL
  ) STRICT;

  -- The organization's slug, name and createTime stand here too, so that an index can serve every order of a user's
  -- list. A change of an organization changes these with it.
  CREATE TABLE members (
    organizationId TEXT NOT NULL REFERENCES organizations,
    userId TEXT NOT NULL REFERENCES users,
    role TEXT NOT NULL,
    createTime INTEGER NOT NULL,
    slug TEXT NOT NULL,
    name TEXT NOT NULL,
    organizationCreateTime INTEGER NOT NULL,
    PRIMARY KEY (userId, organizationId)
  ) STRICT, WITHOUT ROWID;

  CREATE UNIQUE INDEX members_by_begin ON members (userId, createTime);
  CREATE INDEX members_by_slug ON members (userId, slug);
  CREATE INDEX members_by_name ON members (userId, name, slug);
  CREATE INDEX members_by_name_desc ON members (userId, name DESC, slug);
  CREATE INDEX members_by_create_time ON members (userId, organizationCreateTime, slug);
  CREATE INDEX members_by_create_time_desc ON members (userId, organizationCreateTime DESC, slug);

  CREATE TABLE keys (
    keyId TEXT NOT NULL PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    prefix TEXT NOT NULL,
    userId TEXT NOT NULL REFERENCES users,
    name TEXT NOT NULL,
    readOnly INTEGER NOT NULL,
    createTime INTEGER NOT NULL,
    lastUsedTime INTEGER,
    expireTime INTEGER,
    revokeTime INTEGER
  ) STRICT;

  CREATE INDEX keys_by_create_time ON keys (createTime, keyId);
`

/** Walked backwards, the other indexes have the descending orders. */
const second = `
  DROP INDEX members_by_name_desc;
  DROP INDEX members_by_create_time_desc;
`

/** Users who are disabled, and an index for changes of an organization. */
const third = `
  ALTER TABLE users ADD COLUMN disableTime INTEGER;
  CREATE INDEX members_by_organization ON members (organizationId);
`

/**
 * Only ever append: each file counts those it has. The second removes indexes that lists of the release before name, and
 * a release without the third lets disabled users in: neither admits earlier releases.
 */
export const migrations: readonly SqliteMigration[] = [first, second, third]
