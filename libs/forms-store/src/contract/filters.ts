import { randomUUID } from 'node:crypto'
import { checkFilter, compareCodePoints, evaluateFilter, type FilterFields, parseFilter } from '@fms/aip'
import { FormType } from '@fms/contracts'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseDraft } from '../draft-text.ts'
import type { StoredForm } from '../forms-store.ts'
import {
  create,
  edited,
  givenForm,
  newForm,
  type OpenStore,
  openStore,
  refOf,
  time,
  update,
} from './given.ts'
import { comparable, type EngineLimits, hostileNames } from './hostile-names.ts'

const fields: FilterFields = {
  fields: {
    name: { type: 'string' },
    publicId: { type: 'string' },
    type: { type: 'enum', values: FormType.options },
    createTime: { type: 'time' },
    updateTime: { type: 'time' },
  },
  search: 'name',
}

const check = (text: string) => checkFilter(parseFilter(text)!, fields)

/** What the filter sees of a form. */
const rowOf = ({ draft, publicId, createTime, updateTime }: StoredForm) => ({
  name: draft.name,
  type: draft.type,
  publicId,
  createTime: createTime.getTime(),
  updateTime: updateTime.getTime(),
})

const escaped = (text: string) =>
  text
    .replace(/[\\"*]/g, '\\$&')
    .replace(/\p{Cc}/gu, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** A literal, with a wildcard between each two of the parts. */
const quoted = (...parts: string[]) => `"${parts.map(escaped).join('*')}"`

/** What a store promises of filters: `evaluateFilter` over the same rows. */
export const filtersContract = (open: OpenStore, limits: EngineLimits): void => {
  const store = openStore(open)
  const organizationId = randomUUID()
  const names = comparable(hostileNames, limits)
  const forms = names.map((name, index) =>
    newForm({
      organizationId,
      createTime: time(index % 4),
      updateTime: time(index % 7),
      draft: { name, type: FormType.options[index % 2]! },
    }),
  )

  beforeAll(async () => {
    await Promise.all(forms.map((form) => create(store(), form)))
    await Promise.all(names.map((name) => givenForm(store(), { draft: { name } })))
  })

  const list = async (text: string) => {
    const orderBy = [{ field: 'publicId' as const, descending: false }]
    const page = await store().list({ organizationId, filter: check(text), orderBy, limit: 1000, skip: 0 })
    return { publicIds: page.forms.map(({ publicId }) => publicId), totalSize: page.totalSize }
  }

  const expected = (text: string) => {
    const filter = check(text)
    const publicIds = forms
      .filter((form) => evaluateFilter(filter, rowOf(form)))
      .map(({ publicId }) => publicId)
      .sort(compareCodePoints)
    return { publicIds, totalSize: publicIds.length }
  }

  // Mostly pieces of what is there, so that filters find something.
  const anyPieceOf = (texts: string[]) =>
    fc.tuple(fc.constantFrom(...texts), fc.nat(6), fc.nat(6)).map(([text, from, length]) =>
      Array.from(text)
        .slice(from, from + length)
        .join(''),
    )
  const textFields = { name: names, publicId: forms.map(({ publicId }) => publicId) }
  const anyTextOf = (field: keyof typeof textFields) =>
    fc.oneof(
      { arbitrary: fc.constantFrom(...textFields[field]), weight: 2 },
      { arbitrary: anyPieceOf(textFields[field]), weight: 4 },
      fc.string({ unit: 'binary', maxLength: 3 }).filter((text) => comparable([text], limits).length > 0),
    )
  const anyNamePiece = anyTextOf('name')
  const anyInOtherCase = fc.oneof(
    anyNamePiece,
    anyNamePiece.map((text) => text.toUpperCase()),
    anyNamePiece.map((text) => text.toLowerCase()),
  )

  const anyOrder = fc.constantFrom('=', '!=', '<', '<=', '>', '>=')
  const anyEquality = fc.constantFrom('=', '!=')
  const anyTextCondition = fc.constantFrom('name' as const, 'publicId' as const).chain((field) => {
    const anyText = anyTextOf(field)
    return fc.oneof(
      fc.tuple(anyOrder, anyText).map(([operator, text]) => `${field} ${operator} ${quoted(text)}`),
      fc
        .tuple(anyEquality, fc.array(anyText, { minLength: 2, maxLength: 4 }))
        .map(([operator, parts]) => `${field} ${operator} ${quoted(...parts)}`),
      anyText.map((text) => `${field}:${quoted(text)}`),
    )
  })
  const anyTimeCondition = fc
    .tuple(fc.constantFrom('createTime', 'updateTime'), anyOrder, fc.integer({ min: -5, max: 75 }))
    .map(([field, operator, tenths]) => {
      const instant = time(Math.floor(tenths / 10))
        .toISOString()
        .replace('Z', `${(tenths + 10) % 10}Z`)
      return `${field} ${operator} ${instant}`
    })
  const anyCondition = fc.oneof(
    { arbitrary: anyTextCondition, weight: 4 },
    { arbitrary: anyInOtherCase.map((text) => `search(${quoted(text)})`), weight: 2 },
    anyInOtherCase.map((text) => quoted(text)),
    anyTimeCondition,
    fc
      .tuple(anyEquality, fc.constantFrom(...FormType.options))
      .map(([operator, type]) => `type ${operator} ${type}`),
  )
  const { filter: anyFilter } = fc.letrec<{ filter: string }>((tie) => ({
    filter: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      { arbitrary: anyCondition, weight: 2 },
      tie('filter').map((operand) => `NOT (${operand})`),
      fc
        .tuple(fc.constantFrom(' AND ', ' OR ', ' '), fc.array(tie('filter'), { minLength: 2, maxLength: 3 }))
        .map(([operator, operands]) => operands.map((operand) => `(${operand})`).join(operator)),
    ),
  }))

  describe('a filter', () => {
    it('finds what its evaluation over the same rows finds, and counts it', async () => {
      await fc.assert(
        fc.asyncProperty(anyFilter, async (text) => {
          expect(await list(text)).toEqual(expected(text))
        }),
        { numRuns: 500 },
      )
    })

    it.each(names)('takes the name %j for itself alone', async (name) => {
      for (const text of [
        `name = ${quoted(name)}`,
        `name < ${quoted(name)}`,
        `name:${quoted(name)}`,
        `name = ${quoted('', name, '')}`,
        `name = ${quoted(name, '')}`,
        `search(${quoted(name)})`,
      ]) {
        expect(await list(text), text).toEqual(expected(text))
      }
      expect((await list(`name = ${quoted(name)}`)).totalSize).toBe(1)
    })

    it.skipIf(limits.comparesUtf16)('compares by code point, also beyond the basic plane', async () => {
      const own = randomUUID()
      for (const name of ['\uFFFF', '\u{10000}']) {
        await givenForm(store(), { organizationId: own, draft: { name } })
      }

      const filter = check('name > "\\uFFFF"')
      const { forms } = await store().list({ organizationId: own, filter, orderBy: [], limit: 10, skip: 0 })

      expect(forms.map((form) => parseDraft(form).draft.name)).toEqual(['\u{10000}'])
    })

    it('may hold 60 conditions, 20 levels and as many terms as its length allows', async () => {
      const conditions = Array.from({ length: 60 }, (_, index) => `name != "x${index}"`).join(' AND ')
      const levels = `${'NOT (-('.repeat(10)}take${'))'.repeat(10)}`
      const terms = 'a '.repeat(1000)

      for (const text of [conditions, levels, terms]) expect(await list(text)).toEqual(expected(text))
    })

    it('goes along from page to page', async () => {
      const filter = check('name:a')
      const wanted = expected('name:a').publicIds
      const found: string[] = []
      let next: (string | number)[] | undefined
      do {
        const page = await store().list({
          organizationId,
          filter,
          orderBy: [],
          limit: 4,
          skip: 0,
          ...(next && { after: next }),
        })
        expect(page.totalSize).toBe(wanted.length)
        found.push(...page.forms.map(({ publicId }) => publicId))
        next = page.next
      } while (next)

      expect(found.sort(compareCodePoints)).toEqual(wanted)
    })

    it('sees a change of the name', async () => {
      const form = await givenForm(store(), { draft: { name: 'Before' } })
      await update(store(), refOf(form), (current) => edited(current, { name: 'ÄFTER' }))
      const totalOf = async (text: string) =>
        (await store().list({ ...form, filter: check(text), orderBy: [], limit: 1, skip: 0 })).totalSize

      expect(await totalOf('name = Before')).toBe(0)
      expect(await totalOf('search("before")')).toBe(0)
      expect(await totalOf('name = ÄFTER')).toBe(1)
      expect(await totalOf('search("äfter")')).toBe(1)
    })
  })
}
