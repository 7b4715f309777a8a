import { type FieldViolation, ListQuery, PageQuery } from '@fms/contracts'
import type { z } from 'zod'
import { ApiError, invalidRequest } from '../errors.ts'
import { toFieldViolations } from '../field-violations.ts'
import {
  type CheckedFilter,
  checkFilter,
  FilterComplexityError,
  FilterError,
  type FilterFields,
  parseFilter,
} from '../filter/index.ts'
import { filterTooComplex, invalidFilter, invalidOrderBy } from './list-errors.ts'
import { OrderByError, parseOrderBy } from './order-by.ts'
import { type Parsed, parsePageSize, parseSkip } from './page-size.ts'
import type { PageTokens } from './page-token.ts'

/** A place in a list: the values of its order's fields in the last item of a page. */
export type Position = (string | number)[]

/** Which page of a list to answer with (AIP-158). */
export interface PageRequest {
  /** Where the page before ended; absent for the first page. */
  after?: Position
  /** 1 to 1000. */
  limit: number
  skip: number
  /** @returns the token of the page behind `next`, or `''` where there is none. */
  nextPageToken(next: Position | undefined): string
}

/** Which items of a list to answer with, and in which order. */
export interface ListRequest<Field extends string> extends PageRequest {
  filter?: CheckedFilter
  /** Empty for the list's own order. */
  orderBy: { field: Field; descending: boolean }[]
}

export interface PageOptions {
  /** What a page token holds for, beside filter and orderBy: the collection, its parent, the user where it matters. */
  scope: readonly string[]
  pageTokens: PageTokens
}

export interface ListOptions<Field extends string> extends PageOptions {
  /** The parameters that the route takes; one with more than `ListQuery` reads them by itself. */
  contract?: z.ZodType<ListQuery> & { shape: object }
  filterFields: FilterFields
  orderFields: readonly Field[]
}

/**
 * Reads the query of a list with filter (AIP-160), order (AIP-132) and paging (AIP-158), as it came with the request.
 *
 * @throws {ApiError} INVALID_REQUEST with everything that is wrong; INVALID_FILTER, FILTER_TOO_COMPLEX,
 *   INVALID_ORDER_BY or INVALID_PAGE_TOKEN when nothing else is.
 */
export const readListQuery = <Field extends string>(
  query: unknown,
  { contract = ListQuery, filterFields, orderFields, scope, pageTokens }: ListOptions<Field>,
): ListRequest<Field> => {
  const faults: Fault[] = []
  const given = parseValidParams(query, contract, faults)
  const filter = attempt(faults, 'filter', () => {
    const node = parseFilter(given.filter)
    return node && checkFilter(node, filterFields)
  })
  const orderBy = attempt(faults, 'orderBy', () => parseOrderBy(given.orderBy, orderFields))
  const listScope = [...scope, given.filter, given.orderBy, ...tiesScope(orderBy)]
  const page = readPage(given, { scope: listScope, pageTokens }, faults)
  refuseFaults(faults)
  return { ...page, ...(filter && { filter }), orderBy: orderBy as ListRequest<Field>['orderBy'] }
}

/**
 * Reads the query of a list with paging alone.
 *
 * @throws {ApiError} INVALID_REQUEST with everything that is wrong, INVALID_PAGE_TOKEN when nothing else is.
 */
export const readPageQuery = (query: unknown, options: PageOptions): PageRequest => {
  const faults: Fault[] = []
  const page = readPage(parseValidParams(query, PageQuery, faults), options, faults)
  refuseFaults(faults)
  return page
}

/**
 * Once, ties of an order that descends ascended: a token from then stands for another place of the list, and is refused.
 */
const tiesScope = (orderBy: readonly { descending: boolean }[] | undefined): string[] =>
  orderBy?.at(-1)?.descending ? ['ties descend'] : []

/** A wrong parameter, and how to say so when it is the only one. */
interface Fault {
  violation: FieldViolation
  alone?: ApiError
}

/** What the contract accepts of the query. A refused parameter counts as not given, so that the others are read. */
const parseValidParams = <Q>(
  query: unknown,
  contract: z.ZodType<Q> & { shape: object },
  faults: Fault[],
): Q => {
  const { data, error } = contract.safeParse(query)
  if (!error) return data
  const violations = toFieldViolations(error)
  faults.push(...violations.map((violation) => ({ violation })))
  const refused = new Set(violations.map(({ field }) => field))
  const names = Object.keys(contract.shape).filter((name) => !refused.has(name))
  return contract.parse(
    Object.fromEntries(names.map((name) => [name, (query as Record<string, unknown>)[name]])),
  )
}

const readPage = (given: PageQuery, { scope, pageTokens }: PageOptions, faults: Fault[]): PageRequest => {
  const tokenScope = JSON.stringify(scope)
  const { pageToken } = given
  const after = pageToken
    ? attempt(faults, 'pageToken', () => pageTokens.open(tokenScope, pageToken) as Position)
    : undefined
  return {
    ...(after && { after }),
    limit: countOf(parsePageSize(given.pageSize), faults),
    skip: countOf(parseSkip(given.skip), faults),
    nextPageToken: (next) => (next ? pageTokens.seal(tokenScope, next) : ''),
  }
}

const countOf = ({ value = 0, violation }: Parsed<number>, faults: Fault[]): number => {
  if (violation) faults.push({ violation })
  return value
}

const attempt = <T>(faults: Fault[], field: string, read: () => T): T | undefined => {
  try {
    return read()
  } catch (error) {
    faults.push(faultOf(field, error))
    return undefined
  }
}

const faultOf = (field: string, error: unknown): Fault => {
  if (error instanceof FilterError)
    return { violation: { field, description: error.message }, alone: invalidFilter(error) }
  if (error instanceof FilterComplexityError) {
    const { message } = error
    return { violation: { field, description: `has ${message}` }, alone: filterTooComplex(error) }
  }
  if (error instanceof OrderByError)
    return { violation: { field, description: error.message }, alone: invalidOrderBy(error) }
  if (error instanceof ApiError) return { violation: { field, description: error.message }, alone: error }
  throw error
}

const refuseFaults = (faults: Fault[]): void => {
  const [first] = faults
  if (!first) return
  throw faults.length === 1 && first.alone
    ? first.alone
    : invalidRequest(faults.map(({ violation }) => violation))
}
