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
import type { MaskMembers } from '../read-mask/mask-members.ts'
import { parseReadMask, type ReadMask } from '../read-mask/parse-read-mask.ts'
import { filterTooComplex, invalidFilter, invalidOrderBy } from './list-errors.ts'
import { OrderByError, type OrderTerm, type Position, parseOrderBy } from './order-by.ts'
import { type Parsed, parsePageSize, parseSkip } from './page-size.ts'
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
  /** The members of an item that `readMask` can name. Only for a list whose contract has the parameter. */
  members?: MaskMembers
}

export interface ListOptions<Field extends string> extends PageOptions {
  /** Schema of the query; default `ListQuery`. A route with further parameters reads those itself. */
  contract?: z.ZodType<ListQuery> & { shape: object }
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
  { contract = ListQuery, filterFields, orderFields, scope, ...options }: ListOptions<Field>,
): ListRequest<Field> => {
  const invalid: InvalidParam[] = []
  const params = parseValidParams(query, contract, invalid)
  const filter = readFilter(params.filter, filterFields, invalid)
  const orderBy = tryParse(invalid, 'orderBy', () => parseOrderBy(params.orderBy, orderFields))
  const listScope = [...scope, params.filter, params.orderBy, ...tiesScope(orderBy)]
  const page = readPage(params, { scope: listScope, ...options }, invalid)
  rejectInvalid(invalid)
  return { ...page, ...(filter && { filter }), orderBy: orderBy! }
}

/**
 * Parses the raw query of a list that has only paging.
 *
 * @throws {ApiError} INVALID_PAGE_TOKEN if nothing else is invalid; otherwise INVALID_REQUEST with all violations.
 */
export const readPageQuery = (
  query: unknown,
  { contract = PageQuery, ...options }: PageOptions & { contract?: z.ZodType<PageQuery> & { shape: object } },
): PageRequest => {
  const invalid: InvalidParam[] = []
  const page = readPage(parseValidParams(query, contract, invalid), options, invalid)
  rejectInvalid(invalid)
  return page
}

/** The options of a query with a filter but no pages. */
export interface FilterQueryOptions<Q extends { filter: string }> {
  contract: z.ZodType<Q> & { shape: object }
  filterFields: FilterFields
}

/**
 * Parses the raw query of a route with a filter (AIP-160) but no pages.
 *
 * @returns the parameters, and the filter if there is one.
 * @throws {ApiError} INVALID_FILTER or FILTER_TOO_COMPLEX for a single violation of that kind; otherwise INVALID_REQUEST
 *   with all violations.
 */
export const readFilterQuery = <Q extends { filter: string }>(
  query: unknown,
  { contract, filterFields }: FilterQueryOptions<Q>,
): { params: Q; filter?: CheckedFilter } => {
  const invalid: InvalidParam[] = []
  const params = parseValidParams(query, contract, invalid)
  const filter = readFilter(params.filter, filterFields, invalid)
  rejectInvalid(invalid)
  return { params, ...(filter && { filter }) }
}

const readFilter = (text: string, fields: FilterFields, invalid: InvalidParam[]) =>
  tryParse(invalid, 'filter', () => {
    const node = parseFilter(text)
    return node && checkFilter(node, fields)
  })

/**
 * Part of the token's scope, because earlier releases sorted the ties of a descending order in ascending order: their
 * tokens stand for another position and are rejected.
 */
const tiesScope = (orderBy: readonly { descending: boolean }[] | undefined): string[] =>
  orderBy?.at(-1)?.descending ? ['ties descend'] : []

/** An invalid parameter. */
interface InvalidParam {
  violation: FieldViolation
  /** The error if no other parameter is invalid. */
  soleError?: ApiError
}

/** Parses the valid parameters. Invalid ones count as absent, so that the others are checked too. */
const parseValidParams = <Q>(
  query: unknown,
  contract: z.ZodType<Q> & { shape: object },
  invalid: InvalidParam[],
): Q => {
  const { data, error } = contract.safeParse(query)
  if (!error) return data
  const violations = toFieldViolations(error)
  invalid.push(...violations.map((violation) => ({ violation })))
  const invalidNames = new Set(violations.map(({ field }) => field))
  const names = Object.keys(contract.shape).filter((name) => !invalidNames.has(name))
  return contract.parse(
    Object.fromEntries(names.map((name) => [name, (query as Record<string, unknown>)[name]])),
  )
}

const readPage = (
  params: PageQuery & { readMask?: string },
  { scope, pageTokens, members }: PageOptions,
  invalid: InvalidParam[],
): PageRequest => {
  const tokenScope = JSON.stringify(scope)
  const { pageToken } = params
  const after = pageToken
    ? tryParse(invalid, 'pageToken', () => pageTokens.open(tokenScope, pageToken) as Position)
    : undefined
  const readMask = members && readMaskOf(params.readMask ?? '', members, invalid)
  return {
    ...(after && { after }),
    ...(readMask && { readMask }),
    limit: countOf(parsePageSize(params.pageSize), invalid),
    skip: countOf(parseSkip(params.skip), invalid),
    nextPageToken: (next) => (next ? pageTokens.seal(tokenScope, next) : ''),
  }
}

const readMaskOf = (text: string, members: MaskMembers, invalid: InvalidParam[]): ReadMask | undefined => {
  const { readMask, violations } = parseReadMask(text, members)
  invalid.push(...violations.map((violation) => ({ violation })))
  return readMask
}

const countOf = ({ value = 0, violation }: Parsed<number>, invalid: InvalidParam[]): number => {
  if (violation) invalid.push({ violation })
  return value
}

const tryParse = <T>(invalid: InvalidParam[], field: string, read: () => T): T | undefined => {
  try {
    return read()
  } catch (error) {
    invalid.push(toInvalidParam(field, error))
    return undefined
  }
}

const toInvalidParam = (field: string, error: unknown): InvalidParam => {
  if (error instanceof FilterError)
    return { violation: { field, description: error.message }, soleError: invalidFilter(error) }
  if (error instanceof FilterComplexityError) {
    const { message } = error
    return { violation: { field, description: `has ${message}` }, soleError: filterTooComplex(error) }
  }
  if (error instanceof OrderByError)
    return { violation: { field, description: error.message }, soleError: invalidOrderBy(error) }
  if (error instanceof ApiError) return { violation: { field, description: error.message }, soleError: error }
  throw error
}

const rejectInvalid = (invalid: InvalidParam[]): void => {
  const [first] = invalid
  if (!first) return
  throw invalid.length === 1 && first.soleError
    ? first.soleError
    : invalidRequest(invalid.map(({ violation }) => violation))
}
