import type { JsonObject } from '@fms/aip'
import { FormDraft } from '@fms/contracts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { breakingChanges } from './breaking-changes.ts'
import { compareDrafts } from './compare-drafts.ts'
import { draftPairArbitrary } from './testing/draft-pair.arbitrary.ts'

const breakingOf = (from: object, to: object) => [...breakingChanges(from as JsonObject, to as JsonObject)]
const expected = (from: object, to: object) =>
  compareDrafts(from as JsonObject, to as JsonObject).filter(({ breaking }) => breaking)

describe('breakingChanges', () => {
  it('are those of compareDrafts', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(draftPairArbitrary, ([from, to]) => {
        const changes = breakingOf(from, to)
        expect(changes).toEqual(expected(from, to))
        for (const { kind, breaking } of changes) seen.add(`${kind} ${breaking}`)
      }),
      { numRuns: 200 },
    )
    expect([...seen].sort()).toEqual([
      'CHANGED OPTION_REMOVED',
      'CHANGED STEP_TYPE_CHANGED',
      'REMOVED OPTION_REMOVED',
      'REMOVED STEP_REMOVED',
    ])
  })

  it.each<[string, object]>([
    ['without steps', { name: 'a' }],
    ['that the current rules reject', { steps: [{ key: 1 }, null], theme: 'dark' }],
    ['with steps that are no list', { steps: { type: 'text', key: 'q' } }],
  ])('are those of compareDrafts for a snapshot %s', (_, snapshot) => {
    const draft = FormDraft.parse({ steps: [{ type: 'text', key: 'q' }] })

    expect(breakingOf(snapshot, draft)).toEqual(expected(snapshot, draft))
    expect(breakingOf(draft, snapshot)).toEqual(expected(draft, snapshot))
  })

  it('never match a text with an object of the same value', () => {
    const withOption = (option: unknown) => ({ steps: [{ type: 'choice', key: 'q', options: [option] }] })

    const changes = breakingOf(withOption('key "a"'), withOption({ key: 'a' }))

    expect(changes.map(({ breaking }) => breaking)).toEqual(['OPTION_REMOVED'])
  })
})
