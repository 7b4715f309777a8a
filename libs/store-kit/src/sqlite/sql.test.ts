import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { afterPosition, allOf, orderSql, pageSql } from './sql.ts'

describe('afterPosition', () => {
  it('selects exactly the rows after the position, in any mix of directions', () => {
    const rowsOf = (numbers: [number, number][]) =>
      numbers.map(([first, second], id) => ({ first, second, id }))
    const small = fc.integer({ min: 0, max: 2 })

    fc.assert(
      fc.property(
        fc.array(fc.tuple(small, small), { minLength: 1, maxLength: 12 }),
        fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
        fc.nat(),
        (numbers, [first, second, id], choice) => {
          using database = new DatabaseSync(':memory:')
          database.exec('CREATE TABLE rows (first INTEGER, second INTEGER, id INTEGER)')
          const insert = database.prepare('INSERT INTO rows VALUES (?, ?, ?)')
          for (const row of rowsOf(numbers)) insert.run(row.first, row.second, row.id)
          const order = [
            { field: 'first', descending: first },
            { field: 'second', descending: second },
            { field: 'id', descending: id },
          ]
          const all = database.prepare(`SELECT * FROM rows ORDER BY ${orderSql(order)}`).all()
          const index = choice % all.length

          const { sql, values } = afterPosition(order, Object.values(all[index]!))
          const rest = database
            .prepare(`SELECT * FROM rows WHERE ${sql} ORDER BY ${orderSql(order)}`)
            .all(...values)

          expect(rest).toEqual(all.slice(index + 1))
        },
      ),
    )
  })
})

describe('allOf', () => {
  it('puts each condition into parentheses and skips undefined ones', () => {
    expect(
      allOf({ sql: 'a = ? OR b = ?', values: [1, 2] }, undefined, { sql: 'c = ?', values: [3] }),
    ).toEqual({ sql: '(a = ? OR b = ?) AND (c = ?)', values: [1, 2, 3] })
  })
})

describe('pageSql', () => {
  it('has the page size as its first parameter and the rows to skip as its second', () => {
    using database = new DatabaseSync(':memory:')
    const page = database.prepare(
      `SELECT column1 AS letter FROM (VALUES ('a'), ('b'), ('c'), ('d')) ORDER BY letter ${pageSql}`,
    )

    expect(page.all(2, 1).map(({ letter }) => letter)).toEqual(['b', 'c'])
    expect(page.all(3, 3).map(({ letter }) => letter)).toEqual(['d'])
  })
})
