import { randomUUID } from 'node:crypto'
import { ApiError, type JsonObject } from '@fms/aip'
import { FormDraft } from '@fms/contracts'
import { parseDraft, type StoredForm } from '@fms/forms-store'
import { describe, expect, it } from 'vitest'
import { changedForm, newForm } from './new-form.ts'
import { newDraft, patchDraft } from './write-draft.ts'

const created = new Date('2026-11-20T09:30:00.000Z')
const later = new Date('2026-11-20T10:00:00.000Z')
const draftOf = (fields: JsonObject = {}): FormDraft => JSON.parse(newDraft(fields).draftJson)
const formOf = (fields: JsonObject = {}) => newForm(randomUUID(), newDraft(fields), created)

/** The form after a patch. */
const patchForm = (form: StoredForm, patch: JsonObject, now: Date): StoredForm => {
  const draft = patchDraft(form.draftJson, patch)
  return draft ? changedForm(form, draft, now) : form
}

/** The violations by field. */
const violationsOf = (write: () => unknown): Record<string, string> => {
  try {
    write()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    expect(error).toMatchObject({ status: 'INVALID_ARGUMENT', reason: 'INVALID_REQUEST', httpStatus: 400 })
    return Object.fromEntries(
      error.parts.fieldViolations!.map(({ field, description }) => [field, description]),
    )
  }
  return {}
}

describe('newDraft', () => {
  it('fills all omitted fields with defaults', () => {
    const draft = draftOf({})

    expect(FormDraft.parse(draft)).toEqual(draft)
    expect(draft).toMatchObject({ name: 'Untitled form', type: 'structured', defaultMode: 'guided' })
  })

  it('keeps the given fields', () => {
    const said = { name: ' x\0', type: 'dynamic', defaultMode: 'voice', context: ['a'], tone: '' }

    expect(draftOf(said)).toEqual({ ...draftOf({}), ...said })
  })

  it('keeps unknown members of a question as JSON values', () => {
    const question = {
      type: 'matrix',
      key: 'm',
      rows: [[null, { '': 0 }], 1e300],
      toString: 'x',
      required: null,
    }

    expect(draftOf({ steps: [question] }).steps).toEqual([question])
  })

  it('does not add the defaults of a start step to a question', () => {
    const { steps } = draftOf({
      steps: [
        { type: 'start', key: 's' },
        { type: 'text', key: 'q' },
      ],
    })

    expect(steps).toEqual([
      {
        type: 'start',
        key: 's',
        title: '',
        description: '',
        buttonText: '',
        logoUrl: '',
        redirectUrl: '',
        branches: [],
      },
      { type: 'text', key: 'q' },
    ])
  })

  it('treats null as omitted, and rejects null in a list', () => {
    expect(draftOf({ context: null, theme: null, i18n: { translations: { de: null } } })).toEqual(draftOf({}))
    expect(violationsOf(() => draftOf({ context: [null], backgrounds: [null] }))).toEqual({
      'form.context[0]': 'must be a string',
      'form.backgrounds[0]': 'must be an object',
    })
  })

  it('reports all violations', () => {
    expect(
      Object.keys(
        violationsOf(() =>
          draftOf({
            name: null,
            type: null,
            maxFollowUpQuestions: 1.5,
            nope: 1,
            steps: [{ type: 'payment', key: 'p' }],
            defaultMode: 'conversational',
          }),
        ),
      ).sort(),
    ).toEqual(['form.defaultMode', 'form.maxFollowUpQuestions', 'form.name', 'form.nope', 'form.type'])
  })

  it('accepts 768 KiB of JSON and not one byte more', () => {
    const withBytes = (bytes: number) => {
      const facts = Array(10).fill('x'.repeat(70_000)) as string[]
      const missing = bytes - Buffer.byteLength(JSON.stringify(draftOf({ context: [...facts, ''] })))
      return { context: [...facts, 'x'.repeat(missing)] }
    }

    expect(Buffer.byteLength(JSON.stringify(draftOf(withBytes(786_432))))).toBe(786_432)
    expect(violationsOf(() => draftOf(withBytes(786_433)))).toEqual({
      form: 'must have at most 786432 bytes as JSON, and has 786433',
    })
  })

  it('counts bytes in UTF-8, not characters', () => {
    expect(Object.keys(violationsOf(() => draftOf({ context: ['😀'.repeat(200_000)] })))).toEqual(['form'])
  })
})

describe('patchDraft', () => {
  it('changes only the draft, its version and its updateTime', () => {
    const form = { ...formOf(), replyCount: 3, live: true }

    expect(patchForm(form, { tone: 'dry' }, later)).toEqual({
      ...form,
      draftJson: JSON.stringify({ ...parseDraft(form), tone: 'dry' }),
      version: 2,
      updateTime: later,
      changedFields: ['tone'],
    })
  })

  it('does not mutate its arguments', () => {
    const form = formOf({ theme: { primaryColor: 'red' } })
    const patch = { theme: { primaryColor: null }, path: 'x', i18n: { translations: { de: {} } } }
    const before = structuredClone({ form, patch })

    patchForm(form, patch, later)

    expect({ form, patch }).toEqual(before)
  })

  it.each<[string, JsonObject]>([
    ['is empty', {}],
    ['says what is there', { tone: 'dry', theme: { primaryColor: 'red' } }],
    [
      'has its members in another order',
      { i18n: { translations: {}, supportedLocales: ['en'], sourceLocale: 'en' } },
    ],
    ['says a step in another order', { steps: [{ y: { b: 2, a: 1 }, x: 1, key: 'q', type: 'text' }] }],
    ['clears what has its default', { description: null, i18n: { translations: { fr: null } } }],
    ['names the same type', { type: 'structured' }],
    ['has only output-only members', { updateTime: 1, live: true }],
    ['writes a zero as -0', { theme: { buttonRadiusPx: -0 } }],
  ])('returns its argument when the patch %s', (_, patch) => {
    const steps = [{ type: 'text', key: 'q', x: 1, y: { a: 1, b: 2 } }]
    const form = formOf({ tone: 'dry', theme: { primaryColor: 'red', buttonRadiusPx: 0 }, steps })

    expect(patchForm(form, patch, later)).toBe(form)
  })

  it('treats lists in another order as different', () => {
    expect(patchForm(formOf({ context: ['a', 'b'] }), { context: ['b', 'a'] }, later).version).toBe(2)
  })

  it('increases updateTime even when the clock stands still', () => {
    const first = patchForm(formOf(), { tone: 'a' }, created)
    const second = patchForm(first, { tone: 'b' }, new Date(0))

    expect(first.updateTime.getTime() - created.getTime()).toBe(1)
    expect(second.updateTime.getTime() - created.getTime()).toBe(2)
  })

  it('adds defaults to objects that a patch adds', () => {
    const form = formOf({ i18n: { translations: { de: { name: { value: 'Hallo' } } } } })

    const patch = { i18n: { translations: { de: { steps: { s: {} } }, fr: {} } } }
    const draft = parseDraft(patchForm(form, patch, later))

    expect(draft.i18n.translations).toEqual({
      de: {
        name: { override: false, sourceHash: '', stale: false, value: 'Hallo' },
        steps: { s: { options: [] } },
      },
      fr: { steps: {} },
    })
  })

  it.each<[string, JsonObject, string, string]>([
    ['another type', { type: 'dynamic' }, 'form.type', 'is fixed at creation: it is "structured"'],
    ['a cleared type', { type: null }, 'form.type', 'cannot be cleared'],
    ['a cleared name', { name: null }, 'form.name', 'cannot be cleared'],
    ['a cleared mode', { defaultMode: null }, 'form.defaultMode', 'cannot be cleared'],
    ['what is no type', { type: 'other' }, 'form.type', 'must be "structured" or "dynamic"'],
    ['an object for a text', { name: { a: 1 } }, 'form.name', 'must be a string'],
    ['a text for an object', { theme: 'dark' }, 'form.theme', 'must be an object'],
    ['an unknown member', { theme: { dark: null } }, 'form.theme.dark', 'is not a known field'],
  ])('rejects %s', (_, patch, field, description) => {
    expect(violationsOf(() => patchForm(formOf(), patch, later))).toEqual({ [field]: description })
  })

  it('rejects a form that the patch makes too large', () => {
    const form = formOf({ context: Array(600).fill('x'.repeat(1000)) })

    expect(
      Object.keys(violationsOf(() => patchForm(form, { description: 'y'.repeat(4000) }, later))),
    ).toEqual([])
    expect(
      Object.keys(
        violationsOf(() => patchForm(form, { marketplace: { description: 'y'.repeat(300_000) } }, later)),
      ),
    ).toEqual(['form'])
  })
})
