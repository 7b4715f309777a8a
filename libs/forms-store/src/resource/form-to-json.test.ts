import { Form, FormDraft, type FormPath, Revision } from '@fms/contracts'
import { draftArbitrary } from '@fms/contracts/arbitrary'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newForm, newRevision } from '../contract/given.ts'
import type { FormMetadata } from '../forms-store.ts'
import { parseDraft, parseSnapshot, toStoredDraft } from '../stored-draft.ts'
import { formETag, formToJson } from './form-to-json.ts'
import { revisionETag, revisionToJson } from './revision-to-json.ts'

const stored = newForm({ version: 12 })
const toForm = (...args: Parameters<typeof formToJson>): Form => JSON.parse(formToJson(...args))

describe('formToJson', () => {
  it('matches the contract for any draft', () => {
    fc.assert(
      fc.property(draftArbitrary, (draft) => {
        const form = toForm(
          { ...stored, ...toStoredDraft(FormDraft.parse(draft)) },
          'http://127.0.0.1:8080/f',
        )
        expect(Form.parse(form)).toEqual(form)
      }),
    )
  })

  it('adds the output-only members', () => {
    expect(toForm({ ...stored, live: true, replyCount: 3 }, 'https://forms.example.com')).toMatchObject({
      path: `organizations/${stored.organizationId}/forms/${stored.formId}`,
      publicId: stored.publicId,
      publicUrl: `https://forms.example.com/${stored.publicId}`,
      createTime: '2026-11-20T09:30:00.000Z',
      updateTime: '2026-11-20T09:30:00.000Z',
      live: true,
      replyCount: 3,
      name: 'Untitled form',
    })
  })

  it('writes the same text as JSON.stringify of the form, for any form', () => {
    const state = fc.record({
      live: fc.boolean(),
      replyCount: fc.nat(),
      createTime: fc.date({ noInvalidDate: true }),
      updateTime: fc.date({ noInvalidDate: true }),
    })
    fc.assert(
      fc.property(
        draftArbitrary,
        state,
        fc.domain().map((name) => `https://${name}`),
        (draft, fields, baseUrl) => {
          const form = { ...stored, ...fields, ...toStoredDraft(FormDraft.parse(draft)) }
          expect(formToJson(form, baseUrl)).toBe(JSON.stringify(toForm(form, baseUrl)))
        },
      ),
    )
  })
})

describe('formETag', () => {
  it('begins with the version', () => {
    expect(formETag(stored)).toMatch(/^"12-[^"]+"$/)
  })

  it('changes only with the version, a publish or a reply', () => {
    // All members that change without `updateTime`, which the version follows: readers would get a 304 for the former state.
    const changes: Omit<FormMetadata, keyof FormPath | 'publicId' | 'createTime' | 'updateTime'> = {
      version: 13,
      live: true,
      replyCount: 1,
    }
    const changed = Object.entries(changes).map(([name, value]) => ({ ...stored, [name]: value }))
    const states = [stored, ...changed, { ...stored, live: true, replyCount: 1 }]

    expect(new Set(states.map(formETag)).size).toBe(states.length)
    const renamed = { ...stored, ...toStoredDraft({ ...parseDraft(stored), name: 'Renamed' }) }
    expect(formETag(renamed)).toBe(formETag(stored))
  })
})

describe('revisionToJson', () => {
  const revision = newRevision(stored, { note: 'Two "quotes"\n\\ 😀\0' })

  it('matches the contract, with the alias only on the live revision', () => {
    const live = JSON.parse(revisionToJson({ revision, live: true }))
    const past = JSON.parse(revisionToJson({ revision, live: false }))

    expect(Revision.parse(live)).toEqual(live)
    expect(live).toEqual({
      path: `organizations/${stored.organizationId}/forms/${stored.formId}/revisions/${revision.revisionId}`,
      alternateIds: ['live'],
      createTime: '2026-11-20T09:30:00.001Z',
      number: 1,
      publisher: revision.publisher,
      note: revision.note,
      form: parseSnapshot(revision),
    })
    expect(past).toEqual({ ...live, alternateIds: [] })
  })

  it('replaces the AI Handoff of the snapshot at any position', () => {
    fc.assert(
      fc.property(draftArbitrary, fc.boolean(), fc.boolean(), (draft, enabled, isFirst) => {
        const { aiHandoff, ...rest } = toForm(
          { ...stored, ...toStoredDraft(FormDraft.parse(draft)) },
          'http://127.0.0.1:8080/f',
        )
        const formJson = JSON.stringify(isFirst ? { aiHandoff, ...rest } : { ...rest, aiHandoff })

        const live = JSON.parse(
          revisionToJson({ revision: { ...revision, formJson }, live: true }, { aiHandoff: enabled }),
        )

        expect(live.form).toEqual({ ...rest, aiHandoff: { enabled } })
      }),
    )
  })

  it('relies on AI Handoff being the first member of a stored draft', () => {
    fc.assert(
      fc.property(draftArbitrary, (draft) => {
        expect(JSON.stringify(FormDraft.parse(draft))).toMatch(/^\{"aiHandoff":\{"enabled":(true|false)\},/)
      }),
    )
  })
})

describe('revisionETag', () => {
  const revisionId = '0198c0de-0000-7000-8000-000000000001'

  it('of a revision by its UUID changes when the revision becomes live or past', () => {
    const states = [true, false].map((live) => ({ revisionId, live, aiHandoff: false }))
    const tags = states.map((state) => revisionETag(state, false))

    expect(new Set(tags).size).toBe(2)
    expect(revisionETag({ ...states[0]!, aiHandoff: true }, false)).toBe(tags[0])
    for (const tag of tags) expect(tag).toMatch(/^"[\x21\x23-\x7e]+"$/)
  })

  it('of live changes with the revision and with the AI Handoff of the draft', () => {
    const state = { revisionId, live: true, aiHandoff: false }
    const others = [
      { ...state, aiHandoff: true },
      { ...state, revisionId: revisionId.replace(/1$/, '2') },
    ]

    expect(new Set([state, ...others].map((each) => revisionETag(each, true))).size).toBe(3)
  })
})
