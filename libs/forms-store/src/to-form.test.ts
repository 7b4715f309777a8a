import { Form, Revision } from '@fms/contracts'
import { draftArbitrary } from '@fms/contracts/arbitrary'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newForm, newRevision } from './contract/given.ts'
import { serializeDraft } from './draft-text.ts'
import { formETag, renderForm, toForm, toRevision } from './to-form.ts'

const stored = newForm({ version: 12 })

describe('toForm', () => {
  it('is what the contract says, of any draft', () => {
    fc.assert(
      fc.property(draftArbitrary, (draft) => {
        const form = toForm({ ...stored, draft }, 'http://127.0.0.1:8080/f')
        expect(Form.parse(form)).toEqual(form)
      }),
    )
  })

  it('tells where the form is and what became of it', () => {
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
})

describe('renderForm', () => {
  it('writes what JSON.stringify writes of the form, whatever is in it', () => {
    const state = fc.record({
      live: fc.boolean(),
      replyCount: fc.nat(),
      createTime: fc.date({ noInvalidDate: true }),
      updateTime: fc.date({ noInvalidDate: true }),
    })
    fc.assert(
      fc.property(draftArbitrary, state, fc.webUrl(), (draft, fields, baseUrl) => {
        const form = { ...stored, ...fields, draft }
        expect(renderForm(serializeDraft(form), baseUrl)).toBe(JSON.stringify(toForm(form, baseUrl)))
      }),
    )
  })
})

describe('formETag', () => {
  it('begins with the version', () => {
    expect(formETag(stored)).toMatch(/^"12-[^"]+"$/)
  })

  it('changes with the version, a publish and a reply, and with nothing else', () => {
    const states = [
      stored,
      { ...stored, version: 13 },
      { ...stored, live: true },
      { ...stored, replyCount: 1 },
      { ...stored, live: true, replyCount: 1 },
    ]

    expect(new Set(states.map(formETag)).size).toBe(states.length)
    const renamed = { ...stored, draft: { ...stored.draft, name: 'Renamed' } }
    expect(formETag(renamed)).toBe(formETag(stored))
  })
})

describe('toRevision', () => {
  it('is what the contract says, with the alias on the live one alone', () => {
    const revision = newRevision(stored)
    const [live, past] = [toRevision({ revision, live: true }), toRevision({ revision, live: false })]

    expect(Revision.parse(live)).toEqual(live)
    expect(live).toEqual({
      path: `organizations/${stored.organizationId}/forms/${stored.formId}/revisions/${revision.revisionId}`,
      alternateIds: ['live'],
      createTime: '2026-11-20T09:30:00.001Z',
      form: revision.form,
    })
    expect(past).toEqual({ ...live, alternateIds: [] })
  })
})
