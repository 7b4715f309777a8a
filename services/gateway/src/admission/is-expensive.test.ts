import { randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { describe, expect, it } from 'vitest'
import { isExpensive, rememberCost } from './admission-queue.ts'

const listOf = (organizationId: string, query: object = {}, more: object = {}) =>
  ({
    method: 'GET',
    query,
    identity: { userId: randomUUID(), organizationId },
    routeOptions: { config: { operation: { cost: 'list' } }, url: '/forms' },
    ...more,
  }) as unknown as FastifyRequest

it('counts a list as expensive unless the last one of its organization was short', () => {
  const list = listOf(randomUUID())
  expect(isExpensive(list)).toBe(true)

  rememberCost(list, false)
  expect(isExpensive(list)).toBe(false)
  expect(isExpensive(listOf(randomUUID()))).toBe(true)

  rememberCost(list, true)
  expect(isExpensive(list)).toBe(true)
})

it.each([
  ['HEAD', {}, { method: 'HEAD' }],
  ['a mask', { readMask: 'name' }, {}],
  ['another list', {}, { routeOptions: { config: { operation: { cost: 'list' } }, url: '/events' } }],
])('learns nothing about a list from %s', (_, query, more) => {
  const organizationId = randomUUID()

  rememberCost(listOf(organizationId, query, more), false)

  expect(isExpensive(listOf(organizationId))).toBe(true)
})

describe('a request for a form', () => {
  const requestFor = (formRef: string, more: object = {}) =>
    ({
      method: 'GET',
      query: {},
      params: { organizationRef: 'acme', formRef },
      identity: { userId: randomUUID(), organizationId: '5b0f3a52-6c1e-4f0e-9d3c-0a8d1f7b2c44' },
      routeOptions: { config: { operation: {} } },
      ...more,
    }) as unknown as FastifyRequest

  it.each(['GET', 'PATCH'])(
    'is expensive after a long response to %s, in any letter case, until a patch finds it short',
    (method) => {
      const formId = randomUUID()
      expect(isExpensive(requestFor(formId))).toBe(false)

      rememberCost(requestFor(formId, { method }), true)
      rememberCost(requestFor(formId, { query: { readMask: 'name' } }), false)
      for (const each of ['GET', 'HEAD', 'POST']) rememberCost(requestFor(formId, { method: each }), false)

      const params = { organizationRef: '-', formRef: formId.toUpperCase() }
      expect(isExpensive(requestFor('', { params }))).toBe(true)
      for (const each of ['HEAD', 'PATCH', 'POST']) {
        expect(isExpensive(requestFor(formId, { method: each }))).toBe(true)
      }
      expect(isExpensive(requestFor(randomUUID()))).toBe(false)
      rememberCost(requestFor(formId, { method: 'PATCH' }), false)
      expect(isExpensive(requestFor(formId))).toBe(false)
    },
  )

  it('is not expensive because something else of its caller was long', () => {
    const organization = { params: { organizationRef: 'acme' } }

    rememberCost(requestFor('', organization), true)

    expect(isExpensive(requestFor('', { ...organization, method: 'POST' }))).toBe(false)
    expect(isExpensive(requestFor('', { params: {} }))).toBe(false)
  })

  it('is expensive with a mask', () => {
    expect(isExpensive(requestFor(randomUUID(), { query: { readMask: 'name' } }))).toBe(true)
  })
})

it.each([
  [{ pageSize: '100' }, false],
  [{ pageSize: '101' }, true],
  [{ pageSize: '50', skip: '51' }, true],
  [{ filter: 'name=a' }, true],
])('counts a short list with the query %j as expensive: %s', (query, expected) => {
  const list = listOf(randomUUID(), query)
  rememberCost(list, false)

  expect(isExpensive(list)).toBe(expected)
})
