PRAGMA writable_schema = ON;
PRAGMA user_version = 1;
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
INSERT INTO keys VALUES ('00000000-0000-4000-8000-000000000011', '__________________________________________1', 'prefix01', '00000000-0000-4000-8000-000000000001', 'Key 1', 0, 1795165440000, 1795165680000, 1795165800000, NULL);
INSERT INTO keys VALUES ('00000000-0000-4000-8000-000000000012', '__________________________________________2', 'prefix02', '00000000-0000-4000-8000-000000000001', 'Key 2', 1, 1795165440000, NULL, NULL, 1795165620000);
CREATE TABLE loginCodes (
    hash TEXT NOT NULL PRIMARY KEY,
    userId TEXT NOT NULL REFERENCES users,
    expireTime INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
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
INSERT INTO members VALUES ('00000000-0000-4000-8000-000000000003', '00000000-0000-4000-8000-000000000001', 'owner', 1795165380000, 'groesse', 'Größe 😀', 1795165320000);
INSERT INTO members VALUES ('00000000-0000-4000-8000-000000000003', '00000000-0000-4000-8000-000000000002', 'viewer', 1795165380000, 'groesse', 'Größe 😀', 1795165320000);
CREATE TABLE organizations (
    organizationId TEXT NOT NULL PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    logo TEXT,
    metadata TEXT,
    createTime INTEGER NOT NULL
  ) STRICT;
INSERT INTO organizations VALUES ('00000000-0000-4000-8000-000000000003', 'groesse', 'Größe 😀', NULL, '{"plan":["a",1]}', 1795165320000);
CREATE TABLE schemaNote (oldestVersion INTEGER NOT NULL) STRICT;
INSERT INTO schemaNote VALUES (1);
CREATE TABLE users (
    userId TEXT NOT NULL PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    createTime INTEGER NOT NULL,
    disableTime INTEGER
  ) STRICT;
INSERT INTO users VALUES ('00000000-0000-4000-8000-000000000001', 'ada@example.com', 1795165200000, NULL);
INSERT INTO users VALUES ('00000000-0000-4000-8000-000000000002', 'bob@example.com', 1795165260000, 1795165740000);
CREATE INDEX keys_by_create_time ON keys (createTime, keyId);
CREATE INDEX keys_by_user ON keys (userId, createTime, keyId);
CREATE UNIQUE INDEX members_by_begin ON members (userId, createTime);
CREATE INDEX members_by_create_time ON members (userId, organizationCreateTime, slug);
CREATE INDEX members_by_name ON members (userId, name, slug);
CREATE INDEX members_by_slug ON members (userId, slug);
CREATE INDEX members_of_organization ON members (organizationId);
PRAGMA writable_schema = OFF;
