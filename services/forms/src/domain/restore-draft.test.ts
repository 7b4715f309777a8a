import { outputOnlyFields } from '@fms/contracts'
import { createFormArbitrary } from '@fms/contracts/arbitrary'
import { compareDrafts } from '@fms/drafts'
import { parseDraft } from '@fms/forms-store'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { restoreDraft } from './restore-draft.ts'
import { newDraft } from './write-draft.ts'

const draftJsonOf = (fields: object) => newDraft(JSON.parse(JSON.stringify(fields))).draftJson

/** The form in a revision of the draft. */
const snapshotJsonOf = (draftJson: string) =>
  JSON.stringify({
    ...JSON.parse(draftJson),
    ...Object.fromEntries(outputOnlyFields.map((field) => [field, 'of the server'])),
  })

/** A draft, and the draft of an earlier revision of the same form. */
const twoDrafts = fc
  .tuple(createFormArbitrary, createFormArbitrary)
  .map(
    ([one, other]) =>
      [draftJsonOf({ ...one, type: 'structured' }), draftJsonOf({ ...other, type: 'structured' })] as const,
  )

describe('restoreDraft', () => {
  it('leaves no difference from the snapshot but the AI Handoff of the draft, for any two drafts', () => {
    const property = fc.property(twoDrafts, ([draftJson, earlierJson]) => {
      const restored = restoreDraft(draftJson, snapshotJsonOf(earlierJson))
      const restoredJson = restored?.draftJson ?? draftJson
      const { aiHandoff } = parseDraft({ draftJson })

      const changes = compareDrafts(JSON.parse(snapshotJsonOf(earlierJson)), JSON.parse(restoredJson))

      const others = changes.filter(({ field }) => !field.startsWith('form.aiHandoff'))
      expect(others).toEqual([])
      expect(parseDraft({ draftJson: restoredJson }).aiHandoff).toEqual(aiHandoff)
      expect(restoreDraft(restoredJson, snapshotJsonOf(earlierJson))).toBeUndefined()
    })
    fc.assert(property, { numRuns: 300 })
  })

  it('returns undefined for a snapshot that differs in the order of members alone', () => {
    const draftJson = draftJsonOf({ name: 'Same', steps: [{ type: 'text', key: 'q', a: 1, b: 2 }] })
    const members = Object.entries({
      ...JSON.parse(draftJson),
      steps: [{ b: 2, a: 1, key: 'q', type: 'text' }],
    })

    expect(restoreDraft(draftJson, JSON.stringify(Object.fromEntries(members.reverse())))).toBeUndefined()
  })

  it('rejects a snapshot that is too large today, at the form', () => {
    const draftJson = draftJsonOf({})
    const context = Array.from({ length: 40 }, () => 'x'.repeat(20_000))
    const snapshotJson = JSON.stringify({ ...JSON.parse(draftJson), context })

    expect(() => restoreDraft(draftJson, snapshotJson)).toThrow(
      expect.objectContaining({ reason: 'REVISION_NOT_RESTORABLE' }),
    )
  })
})
