import { ListQuery, PageQuery } from '@fms/contracts'
import { didYouMean, suggestion } from '../did-you-mean.ts'
import { apiError, invalidRequest } from '../errors.ts'
import {
  type CheckedFilter,
  checkFilter,
  ExpressionError,
  type FilterFields,
  parseFilter,
} from '../filter/index.ts'
import { type MaskSchema, parseReadMask, type ReadMask } from '../read-mask/read-mask.ts'
import { type QuerySchema, readQuery, type TryParse } from '../read-query.ts'
import { boundFilter } from './bound-filter.ts'
import { type OrderTerm, type Position, parseOrderBy } from './order-by.ts'
import type { PageTokens } from './page-token.ts'

/** The requested page of a list (AIP-158). */
export interface PageRequest {
  /** End of the previous page; absent for the first page. */
  after?: Position
  /** 1 to 1000. */
  limit: number
  skip: number
  /** The members of each item (AIP-157); absent for all of them. */
  readMask?: ReadMask
  /** @returns the token of the page after `next`, or `''` without `next`. */
  nextPageToken(next: Position | undefined): string
}

/** The requested items of a list and their order (AIP-132, AIP-160). */
export interface ListRequest<Field extends string> extends PageRequest {
  filter?: CheckedFilter
  /** Empty for the default order of the list. */
  orderBy: OrderTerm<Field>[]
}

export interface PageOptions {
  /** What a page token is bound to besides filter and orderBy: the collection, its parent, and the user where it matters. */
  scope: readonly string[]
  pageTokens: PageTokens
  /** The members of an item that `readMask` can name. Only for a list whose schema has the parameter. */
  members?: MaskSchema
}

export interface ListOptions<Field extends string> extends PageOptions {
  /** Schema of the query; default `ListQuery`. A route with further parameters reads those itself. */
  schema?: QuerySchema<ListQuery>
  filterFields: FilterFields
  orderFields: readonly Field[]
}

/**
 * Parses the raw query of a list with filter (AIP-160), order (AIP-132) and paging (AIP-158).
 *
 * @throws {ApiError} INVALID_FILTER, FILTER_TOO_COMPLEX, INVALID_ORDER_BY or INVALID_PAGE_TOKEN for a single violation of
 *   that kind; otherwise INVALID_REQUEST with all violations.
 */
export const readListQuery = <Field extends string>(
  query: unknown,
  { schema = ListQuery, filterFields, orderFields, scope, ...options }: ListOptions<Field>,
): ListRequest<Field> =>
  readQuery(query, schema, (params, tryParse) => {
    const filter = tryParse('filter', () => readFilter(params.filter, filterFields))
    const orderBy = tryParse('orderBy', () => parseOrderByOf(params.orderBy, orderFields)) ?? []
    const listScope = [...scope, params.filter, params.orderBy]
    const page = readPage(params, { scope: listScope, ...options }, tryParse)
    return { ...page, ...(filter && { filter }), orderBy }
  })

/** Parses the raw query of a list that has only paging. @throws {ApiError} as {@link readListQuery}. */
export const readPageQuery = (
  query: unknown,
  { schema = PageQuery, ...options }: PageOptions & { schema?: QuerySchema<PageQuery> },
): PageRequest => readQuery(query, schema, (params, tryParse) => readPage(params, options, tryParse))

/** Parses the raw query of a route with a filter (AIP-160) but no pages. @throws {ApiError} as {@link readListQuery}. */
export const readFilterQuery = <Q extends { filter: string }>(
  query: unknown,
  schema: QuerySchema<Q>,
  filterFields: FilterFields,
): { params: Q; filter?: CheckedFilter } =>
  readQuery(query, schema, (params, tryParse) => {
    const filter = tryParse('filter', () => readFilter(params.filter, filterFields))
    return { params, ...(filter && { filter }) }
  })

/** Parses the text of a filter. @returns undefined without one. @throws {ApiError} INVALID_FILTER, FILTER_TOO_COMPLEX. */
export const readFilter = (text: string, fields: FilterFields): CheckedFilter | undefined => {
  try {
    const node = parseFilter(text)
    const filter = node && checkFilter(node, fields)
    if (filter) boundFilter(filter)
    return filter
  } catch (error) {
    throw invalidExpression('INVALID_FILTER', 'filter', error)
  }
}

const parseOrderByOf = <Field extends string>(text: string, fields: readonly Field[]) => {
  try {
    return parseOrderBy(text, fields)
  } catch (error) {
    throw invalidExpression('INVALID_ORDER_BY', 'orderBy', error)
  }
}

/** @returns any other error than an {@link ExpressionError} unchanged. */
const invalidExpression = (reason: 'INVALID_FILTER' | 'INVALID_ORDER_BY', field: string, error: unknown) => {
  if (!(error instanceof ExpressionError)) return error
  const { column, unknownField } = error
  const meant = unknownField && didYouMean(unknownField.name, unknownField.known)
  const expected = error.expected + suggestion(meant)
  return apiError(
    reason,
    { field, column: `${column}`, expected },
    { fieldViolations: [{ field, description: `column ${column}: expected ${expected}` }] },
  )
}

const readPage = (
  params: PageQuery & { readMask?: string },
  { scope, pageTokens, members }: PageOptions,
  tryParse: TryParse,
): PageRequest => {
  const tokenScope = JSON.stringify(scope)
  const { pageToken } = params
  const after = pageToken
    ? tryParse('pageToken', () => pageTokens.open(tokenScope, pageToken) as Position)
    : undefined
  const readMask = members && tryParse('readMask', () => parseReadMask(params.readMask ?? '', members))
  return {
    ...(after && { after }),
    ...(readMask && { readMask }),
    limit: tryParse('pageSize', () => parsePageSize(params.pageSize)) ?? 0,
    skip: tryParse('skip', () => parseSkip(params.skip)) ?? 0,
    nextPageToken: (next) => (next ? pageTokens.seal(tokenScope, next) : ''),
  }
}

const defaultPageSize = 10
const maxPageSize = 1000
const maxSkip = 2 ** 31 - 1

/** @throws {ApiError} INVALID_REQUEST */
const parseCount = (field: string, text: string, max: number): number => {
  const count = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN
  if (count <= max) return count
  throw invalidRequest([{ field, description: `must be a whole number from 0 to ${max}, in decimal digits` }])
}

/** Parses `pageSize` (AIP-158). Default 10, also for 0; values above 1000 mean 1000. */
export const parsePageSize = (text = '0'): number =>
  Math.min(parseCount('pageSize', text, Number.MAX_SAFE_INTEGER) || defaultPageSize, maxPageSize)

/** Parses `skip`, the number of items to skip (AIP-158); default 0. */
export const parseSkip = (text = '0'): number => parseCount('skip', text, maxSkip)
