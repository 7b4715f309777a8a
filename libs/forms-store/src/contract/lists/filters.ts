import { randomUUID } from 'node:crypto'
import {
  ApiError,
  type CheckedFilter,
  checkFilter,
  compareCodePoints,
  evaluateFilter,
  type FieldType,
  type FilterRow,
  parseFilter,
  readFilter,
} from '@fms/aip'
import { draftSummaryFields, formOrderFields } from '@fms/contracts'
import { anyCharacter } from '@fms/testkit/any-character'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { StoredForm } from '../../forms-store.ts'
import { type FormOrderTerm, formFilterFields } from '../../lists/form-fields.ts'
import { parseDraft } from '../../stored-draft.ts'
import type { DraftSummary } from '../../stored-rows.ts'
import { edited, givenForm, newForm, type OpenStore, openStore, refOf, time } from '../given.ts'
import { type EngineLimits, hostileNames, numberOfRuns } from '../hostile-names.ts'
import { inOrder } from './plain-order.ts'

/** The filter of a list of forms. */
export const filterOf = (text: string): CheckedFilter => checkFilter(parseFilter(text)!, formFilterFields)

/** Whether the API accepts a filter, by the number of its conditions. */
const isWithinBounds = (text: string): boolean => {
  try {
    readFilter(text, formFilterFields)
    return true
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

/** The fields of one type that a filter can name. */
const filterFields = Object.entries(formFilterFields.fields) as [keyof StoredForm, FieldType][]
const fieldsOf = (type: FieldType['type']) =>
  filterFields.flatMap(([name, field]) => (field.type === type ? [name] : []))

const enumValues = filterFields.flatMap(([name, field]) =>
  field.type === 'enum' ? field.values.map((value) => [name, value] as const) : [],
)

/** The fields of a form that a filter reads. */
const rowOf = (form: StoredForm): FilterRow =>
  Object.fromEntries(
    filterFields.map(([name, { type }]) => [name, type === 'time' ? Number(form[name]) : `${form[name]}`]),
  )

/** Values of the draft's fields. Each form has another name. */
const draftOf = (index: number): DraftSummary => {
  const valueFor = (name: string) => {
    const field = formFilterFields.fields[name]
    const values = field?.type === 'enum' ? field.values : hostileNames
    return values[(index * 3) % values.length]!
  }
  const draft = Object.fromEntries(draftSummaryFields.map((name) => [name, valueFor(name)]))
  return { ...(draft as unknown as DraftSummary), name: hostileNames[index]! }
}

const escaped = (text: string) =>
  text
    .replace(/[\\"*]/g, '\\$&')
    .replace(/\p{Cc}/gu, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** A string literal with a wildcard between the parts. */
const quoted = (...parts: string[]) => `"${parts.map(escaped).join('*')}"`

/** Tests of filters, against `evaluateFilter` over the same rows. */
export const filtersContract = (open: OpenStore, limits: EngineLimits): void => {
  const store = openStore(open)
  const organizationId = randomUUID()
  const names = hostileNames
  const forms = names.map((_, index) =>
    newForm({
      organizationId,
      createTime: time(index % 4),
      updateTime: time(index % 7),
      draft: draftOf(index),
    }),
  )

  beforeAll(async () => {
    await Promise.all(forms.map((form) => store().create(form)))
    await Promise.all(names.slice(0, 10).map((name) => givenForm(store(), { draft: { name } })))
  })

  const byPublicId: FormOrderTerm[] = [{ field: 'publicId', descending: false }]

  const list = async (text: string, { orderBy = byPublicId, limit = 1000, skip = 0 } = {}) => {
    const page = await store().list({ organizationId, filter: filterOf(text), orderBy, limit, skip })
    return { publicIds: page.forms.map(({ publicId }) => publicId), totalSize: page.totalSize }
  }

  const expected = (text: string, { orderBy = byPublicId, limit = 1000, skip = 0 } = {}) => {
    const filter = filterOf(text)
    const matching = forms.filter((form) => evaluateFilter(filter, rowOf(form)))
    const page = inOrder(matching, orderBy).slice(skip, skip + limit)
    return { publicIds: page.map(({ publicId }) => publicId), totalSize: matching.length }
  }

  // Mostly parts of stored names, so that filters match something.
  const anyPieceOf = (texts: string[]) =>
    fc.tuple(fc.constantFrom(...texts), fc.nat(6), fc.nat(6)).map(([text, from, length]) =>
      Array.from(text)
        .slice(from, from + length)
        .join(''),
    )
  const anyTextOf = (field: keyof StoredForm) => {
    const stored = forms.map((form) => `${form[field]}`)
    return fc.oneof(
      { arbitrary: fc.constantFrom(...stored), weight: 2 },
      { arbitrary: anyPieceOf(stored), weight: 4 },
      fc.string({ unit: anyCharacter, maxLength: 3 }),
    )
  }
  const anyNamePiece = anyTextOf('name')
  const anyInOtherCase = fc.oneof(
    anyNamePiece,
    anyNamePiece.map((text) => text.toUpperCase()),
    anyNamePiece.map((text) => text.toLowerCase()),
  )

  const anyOrder = fc.constantFrom('=', '!=', '<', '<=', '>', '>=')
  const anyEquality = fc.constantFrom('=', '!=')
  const anyTextCondition = fc.constantFrom(...fieldsOf('string')).chain((field) => {
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
    .tuple(fc.constantFrom(...fieldsOf('time')), anyOrder, fc.integer({ min: -5, max: 75 }))
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
      .tuple(fc.constantFrom(...enumValues), anyEquality)
      .map(([[field, value], operator]) => `${field} ${operator} ${value}`),
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
    it('finds and counts the same forms as its evaluation over the same rows', async () => {
      const anyTerm = fc.record({ field: fc.constantFrom(...formOrderFields), descending: fc.boolean() })
      const anyPage = fc.record({
        orderBy: fc.uniqueArray(anyTerm, { maxLength: 3, selector: ({ field }) => field }),
        limit: fc.constantFrom(1, 3, 10, 1000),
        skip: fc.constantFrom(0, 0, 0, 1, 7, 50, 2 ** 31 - 1),
      })
      await fc.assert(
        fc.asyncProperty(anyFilter.filter(isWithinBounds), anyPage, async (text, page) => {
          expect(await list(text, page)).toEqual(expected(text, page))
        }),
        { numRuns: numberOfRuns(limits, 300, 30) },
      )
    })

    it('takes wildcard characters of the engines literally', async () => {
      const own = randomUUID()
      const ownnames = ['a*b', 'a?b', 'a[b]c', 'a\0b', 'a\uFFFDb', 'a\uFFFEb', 'a\uFFFFb', '[a-z]', 'axb']
      for (const name of ownnames) await givenForm(store(), { organizationId: own, draft: { name } })

      for (const part of ownnames.map((name) => name.slice(1))) {
        const filter = filterOf(`name = ${quoted('', part, '')}`)
        const page = await store().list({ organizationId: own, filter, orderBy: [], limit: 100, skip: 0 })
        const found = ownnames.filter((name) => name.includes(part))
        expect(page.forms.map(({ name }) => name).sort(), part).toEqual(found.sort())
      }
    })

    it.each(names.map((name, index) => [name, index] as const))(
      'matches the name %j and no other',
      async (name, index) => {
        const texts = [
          `name = ${quoted(name)}`,
          `name < ${quoted(name)}`,
          `name:${quoted(name)}`,
          `name = ${quoted('', name, '')}`,
          `name = ${quoted(name, '')}`,
          `search(${quoted(name)})`,
        ]
        // On a slow engine, every second filter of a name, and the others of the next name.
        const step = limits.slow && !process.env.FC_RUNS ? 2 : 1
        for (let number = index % step; number < texts.length; number += step) {
          const text = texts[number]!
          expect(await list(text), text).toEqual(expected(text))
        }
        expect(expected(texts[0]!).totalSize).toBe(1)
      },
    )

    it('compares by code point, also beyond the basic multilingual plane', async () => {
      const own = randomUUID()
      for (const name of ['\uFFFF', '\u{10000}']) {
        await givenForm(store(), { organizationId: own, draft: { name } })
      }

      const filter = filterOf('name > "\\uFFFF"')
      const { forms } = await store().list({ organizationId: own, filter, orderBy: [], limit: 10, skip: 0 })

      expect(forms.map((form) => parseDraft(form).name)).toEqual(['\u{10000}'])
    })

    it('finds a text of one, two, three or more letters in names, ignoring case', async () => {
      const own = randomUUID()
      const ownNames = ['Customer feedback', 'customer Survey', 'CUS', 'cu', 'c', '😀😁😂 smile', 'Σίσυφος']
      for (const name of ownNames) await givenForm(store(), { organizationId: own, draft: { name } })
      const found = async (text: string) => {
        const page = await store().list({
          organizationId: own,
          filter: filterOf(text),
          orderBy: [],
          limit: 9,
          skip: 0,
        })
        return page.forms.map(({ name }) => name).sort()
      }

      expect(await found('search("c")')).toEqual(['CUS', 'Customer feedback', 'c', 'cu', 'customer Survey'])
      expect(await found('search("CU")')).toEqual(['CUS', 'Customer feedback', 'cu', 'customer Survey'])
      expect(await found('search("cus")')).toEqual(['CUS', 'Customer feedback', 'customer Survey'])
      expect(await found('search("stomer S")')).toEqual(['customer Survey'])
      expect(await found('name:omer')).toEqual(['Customer feedback', 'customer Survey'])
      expect(await found('name:"Customer "')).toEqual(['Customer feedback'])
      expect(await found('search("cus") AND search("omer")')).toEqual([
        'Customer feedback',
        'customer Survey',
      ])
      expect(await found('search("cus") AND search("zebra")')).toEqual([])
      expect(await found('search("😁😂 ")')).toEqual(['😀😁😂 smile'])
      expect(await found('search("ΣΥΦΟΣ")')).toEqual(['Σίσυφος'])
    })

    it('finds no deleted form, and none by its former name', async () => {
      const form = await givenForm(store(), { draft: { name: 'Rhinoceros' } })
      const found = async (text: string) =>
        (await store().list({ ...form, filter: filterOf(text), orderBy: [], limit: 1, skip: 0 })).totalSize
      expect(await found('search("rhino")')).toBe(1)

      await store().update(refOf(form), (current) => edited(current, { name: 'Hippo' }))
      expect([await found('search("rhino")'), await found('search("hippo")')]).toEqual([0, 1])

      await store().delete(refOf(form), () => {})
      expect(await found('search("hippo")')).toBe(0)
    })

    it('accepts 60 conditions and 20 levels of nesting', async () => {
      const conditions = Array.from({ length: 60 }, (_, index) => `name != "x${index}"`).join(' AND ')
      const levels = `${'NOT (-('.repeat(10)}take${'))'.repeat(10)}`

      for (const text of [conditions, levels]) expect(await list(text)).toEqual(expected(text))
    })

    it('applies to every page', async () => {
      const filter = filterOf('name:a')
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

    it.each(draftSummaryFields)('sees a changed %s', async (field) => {
      const [before, after] = [draftOf(1)[field], draftOf(2)[field]]
      const form = await givenForm(store(), { draft: { [field]: before } })
      await store().update(refOf(form), (current) => edited(current, { [field]: after }))
      const totalOf = async (value: string) => {
        const filter = filterOf(`${field} = ${quoted(value)}`)
        return (await store().list({ ...form, filter, orderBy: [], limit: 1, skip: 0 })).totalSize
      }

      expect([await totalOf(before), await totalOf(after)]).toEqual([0, 1])
    })

    it('searches a changed name', async () => {
      const form = await givenForm(store(), { draft: { name: 'Before' } })
      await store().update(refOf(form), (current) => edited(current, { name: 'ÄFTER' }))
      const totalOf = async (text: string) =>
        (await store().list({ ...form, filter: filterOf(text), orderBy: [], limit: 1, skip: 0 })).totalSize

      expect(await totalOf('search("before")')).toBe(0)
      expect(await totalOf('search("äfter")')).toBe(1)
    })
  })
}
