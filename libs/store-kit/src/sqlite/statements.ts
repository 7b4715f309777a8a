import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

/** The most cached statements of a connection; the oldest is dropped first. The SQL of a list varies with its filter. */
const maxStatements = 500

export type Row = Record<string, SQLInputValue>

export class Statements {
  readonly #connection: DatabaseSync
  readonly #cache = new Map<string, Statement>()

  constructor(connection: DatabaseSync) {
    this.#connection = connection
  }

  get(sql: string): Statement {
    let statement = this.#cache.get(sql)
    if (!statement) {
      statement = new Statement(this.#connection.prepare(sql))
      if (this.#cache.size >= maxStatements) this.#cache.delete(this.#cache.keys().next().value!)
      this.#cache.set(sql, statement)
    }
    return statement
  }
}

/** Builds row objects from arrays: V8 keeps the driver's own objects in dictionary mode, which is slow. */
class Statement {
  readonly #statement: StatementSync
  #columns: string[]

  constructor(statement: StatementSync) {
    statement.setReturnArrays(true)
    this.#statement = statement
    this.#columns = columnsOf(statement)
  }

  all(values: SQLInputValue[]): Row[] {
    return (this.#statement.all(...values) as unknown as SQLInputValue[][]).map((row) => this.#toRow(row))
  }

  get(values: SQLInputValue[]): Row | undefined {
    const found = this.#statement.get(...values) as unknown as SQLInputValue[] | undefined
    return found && this.#toRow(found)
  }

  run(values: SQLInputValue[]): number {
    // The result includes the last rowid, and those of FTS5 exceed the safe integers.
    this.#statement.setReadBigInts(true)
    return Number(this.#statement.run(...values).changes)
  }

  #toRow(values: SQLInputValue[]): Row {
    // Another process has added a column; new columns come last.
    if (values.length !== this.#columns.length) this.#columns = columnsOf(this.#statement)
    const row: Row = {}
    for (let index = 0; index < values.length; index++) row[this.#columns[index]!] = values[index]!
    return row
  }
}

const columnsOf = (statement: StatementSync) => statement.columns().map(({ name }) => name)
