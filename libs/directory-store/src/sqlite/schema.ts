import type { SqliteMigration } from '@fms/store-kit'

/** The initial schema. Times are milliseconds since the epoch; columns have the names of the fields in the port. */
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

  -- slug, name and organizationCreateTime copy the organization's fields, so that an index serves every order of a
  -- user's list. Updates of the organization update the copies.
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

/** Drops the descending indexes: a reverse scan of the ascending ones gives the same order. */
const second = `
  DROP INDEX members_by_name_desc;
  DROP INDEX members_by_create_time_desc;
`

/** Adds disabled users, and an index for updates of an organization. */
const third = `
  ALTER TABLE users ADD COLUMN disableTime INTEGER;
  CREATE INDEX members_by_organization ON members (organizationId);
`

/** Adds an index for the keys of a user, and codes for a sign-in. */
const fourth = `
  CREATE INDEX keys_by_user ON keys (userId, createTime, keyId);

  CREATE TABLE loginCodes (
    hash TEXT NOT NULL PRIMARY KEY,
    userId TEXT NOT NULL REFERENCES users,
    expireTime INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`

/**
 * The migrations in order. Only append: a database stores how many it has run. The second removes indexes that the release
 * before it names in queries, and a release without the third admits disabled users: neither allows earlier releases.
 */
export const migrations: readonly SqliteMigration[] = [
  first,
  second,
  third,
  // Release 0.1.0 has three. It lists no keys of a user and knows no login codes.
  { script: fourth, oldestVersion: 3 },
]
