import { CreateFormRequest, ListOrganizationsQuery } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { invalidRequest } from './errors.ts'
import { toFieldViolations } from './field-violations.ts'

const violationsOf = (schema: z.ZodType, value: unknown, ...root: PropertyKey[]) =>
  toFieldViolations(schema.safeParse(value).error!, ...root)

describe('toFieldViolations', () => {
  it.each([
    [z.object({ a: z.object({ b: z.string() }) }), { a: { b: 1 } }, 'a.b', 'must be a string'],
    [z.object({ a: z.array(z.number()) }), { a: [0, 'x'] }, 'a[1]', 'must be a number'],
    [z.object({ a: z.number().min(1) }), { a: 0 }, 'a', 'must be at least 1'],
    [z.object({ a: z.number().max(65_535) }), { a: 65_536 }, 'a', 'must be at most 65535'],
    [z.object({ a: z.string() }), {}, 'a', 'is required'],
    [z.object({ a: z.array(z.string()) }), { a: null }, 'a', 'must be an array'],
    [z.object({ a: z.enum(['x', 'y']) }), { a: 'z' }, 'a', 'must be "x" or "y"'],
    [z.object({ a: z.literal(1) }), { a: 2 }, 'a', 'must be 1'],
    [z.strictObject({ a: z.strictObject({}) }), { a: { '': 1 } }, 'a.', 'is not a known field'],
    [
      z.record(z.string().regex(/^[a-z]$/, { error: 'must be a letter' }), z.any()),
      { AB: 1 },
      'AB',
      'must be a letter',
    ],
    [z.object({}), null, '', 'must be an object'],
    [ListOrganizationsQuery, { skip: ['1', '2'] }, 'skip', 'must be given once'],
    [ListOrganizationsQuery, { all: 'yes' }, 'all', 'must be true or false, and given once'],
    [CreateFormRequest, { form: [] }, 'form', 'must be an object'],
    [CreateFormRequest, {}, 'form', 'is required'],
    [CreateFormRequest, { form: {}, validateOnly: 'true' }, 'validateOnly', 'must be true or false'],
  ])('returns the path and the expected value (%#)', (schema, value, field, description) => {
    expect(violationsOf(schema, value)).toEqual([{ field, description }])
  })

  it('has an entry for each issue and for each unknown field', () => {
    const schema = z.object({ steps: z.array(z.strictObject({ key: z.string() })) })

    expect(violationsOf(schema, { steps: [{ key: 1, a: 1, b: 2 }, {}] })).toEqual([
      { field: 'steps[0].key', description: 'must be a string' },
      { field: 'steps[0].a', description: 'is not a known field' },
      { field: 'steps[0].b', description: 'is not a known field' },
      { field: 'steps[1].key', description: 'is required' },
    ])
  })

  it('returns one more violation than an error lists', () => {
    const unknown = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`m${index}`, 1]))
    expect(violationsOf(z.strictObject({}), unknown)).toHaveLength(1001)

    const error = invalidRequest(violationsOf(z.strictObject({}), unknown))
    expect(error.parts.fieldViolations).toHaveLength(1000)
    expect(error.message).toContain('(and at least 1000 more)')
    expect(invalidRequest(violationsOf(z.strictObject({}), { a: 1, b: 2, c: 3 })).message).toContain(
      '(and 2 more)',
    )
  })

  it('puts the root before every path', () => {
    const schema = z.strictObject({ name: z.string() })

    expect(violationsOf(schema, { name: 1, x: 1 }, 'form', 'steps', 2).map(({ field }) => field)).toEqual([
      'form.steps[2].name',
      'form.steps[2].x',
    ])
    expect(violationsOf(schema, [], 'form')).toMatchObject([{ field: 'form' }])
  })

  it('reports the issues of the variant that `type` names, and no others', () => {
    const start = z.strictObject({ type: z.literal('start'), title: z.string() })
    const question = z.strictObject({ type: z.string().regex(/^q/), text: z.string() })
    const schema = z.object({ steps: z.array(z.union([start, question])) })

    expect(violationsOf(schema, { steps: [{ type: 'start', title: 1 }] })).toEqual([
      { field: 'steps[0].title', description: 'must be a string' },
    ])
  })
})
