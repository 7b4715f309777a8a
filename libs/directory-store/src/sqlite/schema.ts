import type { SqliteMigration } from '@fms/store-kit'

/** Times are milliseconds since the epoch; columns have the names of the fields in the port. */
const first = `
  CREATE TABLE users (
    userId TEXT NOT NULL PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    createTime INTEGER NOT NULL,
    disableTime INTEGER
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
  -- user's list.
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
  CREATE INDEX members_by_create_time ON members (userId, organizationCreateTime, slug);
  CREATE INDEX members_of_organization ON members (organizationId);

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
  CREATE INDEX keys_by_user ON keys (userId, createTime, keyId);

  CREATE TABLE loginCodes (
    hash TEXT NOT NULL PRIMARY KEY,
    userId TEXT NOT NULL REFERENCES users,
    expireTime INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`

/** The migrations in order. Only append: a database stores how many it has run. */
export const migrations: readonly SqliteMigration[] = [first]
