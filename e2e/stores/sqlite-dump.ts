import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'

interface Table {
  name: string
  type: 'table' | 'virtual' | 'shadow'
  sql: string
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

const literal = (value: SQLOutputValue): string => {
  if (value === null) return 'NULL'
  if (typeof value === 'string') return quoted(value)
  return value instanceof Uint8Array ? `X'${Buffer.from(value).toString('hex')}'` : `${value}`
}

/**
 * The statements of SQL that create a file with the same content, like `.dump` of the program sqlite3: the tables of a full-text index
 * are copied as they are, and `sqlite_schema` gets the row of the index.
 */
export const dumpSqlite = (path: string): string[] => {
  using database = new DatabaseSync(path, { readOnly: true })
  const all = (sql: string) => {
    const statement = database.prepare(sql)
    statement.setReadBigInts(true)
    return statement.all()
  }
  const tables = all(
    `SELECT name, list.type, sql FROM pragma_table_list AS list JOIN sqlite_schema USING (name)
     WHERE list.schema = 'main' AND name NOT IN ('sqlite_schema', 'sqlite_sequence') ORDER BY list.type, name`,
  ) as unknown as Table[]
  const rowsOf = (name: string) =>
    all(`SELECT * FROM ${name}`).map(
      (row) => `INSERT INTO ${name} VALUES (${Object.values(row).map(literal).join(', ')});`,
    )
  const indexes = all("SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name")
  const hasSequences = all("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").length > 0
  return [
    'PRAGMA writable_schema = ON;',
    `PRAGMA user_version = ${all('PRAGMA user_version')[0]!.user_version};`,
    ...tables.flatMap(({ name, type, sql }) =>
      type === 'virtual'
        ? [`INSERT INTO sqlite_schema VALUES ('table', '${name}', '${name}', 0, ${quoted(sql)});`]
        : [`${sql};`, ...rowsOf(name)],
    ),
    ...(hasSequences ? ['DELETE FROM sqlite_sequence;', ...rowsOf('sqlite_sequence')] : []),
    ...indexes.map(({ sql }) => `${sql};`),
    'PRAGMA writable_schema = OFF;',
  ]
}

/** Creates a file from a dump. */
export const restoreSqlite = (path: string, dump: readonly string[]): void => {
  // The tables come in the order of their names.
  using database = new DatabaseSync(path, { defensive: false, enableForeignKeyConstraints: false })
  database.exec(`BEGIN; ${dump.join('\n')} COMMIT`)
}
