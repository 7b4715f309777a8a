import { randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { expect, it } from 'vitest'
import { isDear, rememberLength } from './door.ts'

const listOf = (organizationId: string, query: object = {}) =>
  ({
    query,
    identity: { userId: randomUUID(), organizationId },
    routeOptions: { config: { isList: true } },
  }) as unknown as FastifyRequest

it('takes a list for dear unless the last one of its organization was short', () => {
  const list = listOf(randomUUID())
  expect(isDear(list)).toBe(true)

  rememberLength(list, false)
  expect(isDear(list)).toBe(false)
  expect(isDear(listOf(randomUUID()))).toBe(true)

  rememberLength(list, true)
  expect(isDear(list)).toBe(true)
})

it.each([
  [{ pageSize: '100' }, false],
  [{ pageSize: '101' }, true],
  [{ pageSize: '50', skip: '51' }, true],
  [{ filter: 'name=a' }, true],
])('takes a short list with the query %j for dear: %s', (query, expected) => {
  const list = listOf(randomUUID(), query)
  rememberLength(list, false)

  expect(isDear(list)).toBe(expected)
})
