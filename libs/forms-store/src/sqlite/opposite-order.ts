import {
  afterPosition,
  allOf,
  orderSql,
  pageSql,
  type Row,
  type SqlCondition,
  type SqliteDatabase,
  type SqlOrderTerm,
} from '@fms/store-kit'
import type { FormPosition } from '../form-order.ts'

/** Whether it is an order of one field, and `publicId` breaks its ties the other way. */
export const isOpposite = (order: readonly SqlOrderTerm[]): order is [SqlOrderTerm, SqlOrderTerm] =>
  order.length === 2 && order[0]!.descending !== order[1]!.descending

/**
 * A list in an order of one field whose ties `publicId` breaks the other way, as in the one most recently updated first,
 * from the index in which both go the same way. Read along the field, that index gives the groups of equal values in
 * order, and each of them the wrong way round: a group that was read whole is turned, of one that goes beyond the page
 * the right end is read. A page costs the same however many forms have one value; what it skips is walked in the index
 * alone.
 *
 * Index: forms_by_ and the field. To be used within one snapshot.
 */
export class OppositeOrder {
  readonly #database: SqliteDatabase
  readonly #matches: SqlCondition
  readonly #field: SqlOrderTerm
  readonly #publicId: SqlOrderTerm

  /** @param matches what the forms of the list have in common, the organization first. */
  constructor(
    database: SqliteDatabase,
    matches: SqlCondition,
    [field, publicId]: [SqlOrderTerm, SqlOrderTerm],
  ) {
    this.#database = database
    this.#matches = matches
    this.#field = field
    this.#publicId = publicId
  }

  /** @returns rows whose `id` is the rowid of a form, in order. */
  page(after: FormPosition | undefined, limit: number, skip: number): Row[] {
    const place = after && { value: after[0]!, publicId: after[1]! }
    if (skip === 0) return this.#behind(place, limit)
    const skipped = this.#lastSkipped(place, skip)
    return skipped ? this.#behind(this.#placeOf(skipped), limit) : []
  }

  #behind(place: Row | undefined, limit: number): Row[] {
    const ties = place ? this.#inGroup(this.#tiesBehind(place), limit) : []
    return ties.length === limit ? ties : [...ties, ...this.#inNextGroups(place, limit - ties.length)]
  }

  #inNextGroups(place: Row | undefined, limit: number): Row[] {
    const rows = this.#alongIndex(place, limit + 1)
    const hasTies = rows.some(({ value }, index) => index > 0 && value === rows[index - 1]!.value)
    const cut = rows.length > limit ? rows.pop()!.value : undefined
    if (!hasTies) return rows
    const groups = Map.groupBy(rows, ({ value }) => value!)
    return [...groups].flatMap(([value, group]) =>
      value === cut ? this.#inGroup(this.#group(value), group.length) : group.reverse(),
    )
  }

  /**
   * The last of the forms that are skipped; undefined where there are no more than those. The index leads to another of
   * its group, as far from one end of the group as this one is from the other.
   */
  #lastSkipped(place: Row | undefined, skip: number): Row | undefined {
    const [tie] = place ? this.#inGroup(this.#tiesBehind(place), 1, skip - 1) : []
    if (tie) return tie
    const ties = place ? this.#count(this.#tiesBehind(place)) : 0
    const [inIndex] = this.#alongIndex(place, 1, skip - ties - 1)
    if (!inIndex) return undefined
    const rank = this.#count(this.#tiesBehind(this.#placeOf(inIndex)))
    return this.#inGroup(this.#group(inIndex.value!), 1, rank)[0]
  }

  /** What a position is made of: the field's value, and the public id. */
  #placeOf({ id }: Row): Row {
    const sql = `SELECT ${this.#field.column} AS value, publicId FROM forms WHERE rowid = ?`
    return this.#database.get(sql, id!)!
  }

  /** The forms that have a value. */
  #group(value: Row[string]): SqlCondition {
    return { sql: `${this.#field.column} = ?`, values: [value] }
  }

  #tiesBehind({ value, publicId }: Row): SqlCondition {
    return allOf(this.#group(value!), afterPosition([this.#publicId], [publicId!]))
  }

  /** In the order of the list, which the index has within a group. */
  #inGroup(group: SqlCondition, limit: number, skip = 0): Row[] {
    return this.#read(group, [this.#publicId], limit, skip)
  }

  /** The groups behind that of a place, each the wrong way round. */
  #alongIndex(place: Row | undefined, limit: number, skip = 0): Row[] {
    const { descending } = this.#field
    const behind = place && afterPosition([this.#field], [place.value!])
    return this.#read(behind, [this.#field, { ...this.#publicId, descending }], limit, skip)
  }

  #read(condition: SqlCondition | undefined, order: SqlOrderTerm[], limit: number, skip: number): Row[] {
    // Of several bounds on a column, as a filter may have one, SQLite starts from the first.
    const { sql, values } = allOf(condition, this.#matches)
    const { column } = this.#field
    return this.#database.all(
      `SELECT rowid AS id, ${column} AS value FROM forms INDEXED BY forms_by_${column}
       WHERE ${sql} ORDER BY ${orderSql(order)} ${pageSql}`,
      ...values,
      limit,
      skip,
    )
  }

  #count(condition: SqlCondition): number {
    const { sql, values } = allOf(condition, this.#matches)
    const counted = `SELECT count(*) AS total FROM forms INDEXED BY forms_by_${this.#field.column} WHERE ${sql}`
    return this.#database.get(counted, ...values)?.total as number
  }
}
