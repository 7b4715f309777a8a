import { readdirSync } from 'node:fs'
import { getPriority } from 'node:os'
import { openFormsStore, parseDraft, type StoredForm, toStoredDraft } from '@fms/forms-store'
import { afterAll, describe, expect, it } from 'vitest'
import { DraftChecks } from './draft-checks.ts'
import { publish } from './publish.ts'
import { commandFor, draftOf, givenForm, question, testBaseUrl } from './testing.ts'

const checks = new DraftChecks()
afterAll(() => checks.close())

/** A draft, and its live revision with a question that the draft lacks. */
const givenRemoval = async (description = '') => {
  await using forms = await openFormsStore('sqlite::memory:')
  const other = { type: 'text', key: 'other', description }
  const form = await givenForm(forms, { draft: draftOf({ steps: [question, other] }) })
  const deps = { forms, checks, publicFormBaseUrl: testBaseUrl, now: () => new Date() }
  await publish(commandFor(form), deps, { assertInTime: () => {}, httpRequestId: '' })
  const found = await forms.getRevision({ ...form, formRef: form.formId }, 'live')
  const draft: StoredForm = { ...form, ...toStoredDraft({ ...parseDraft(form), steps: [question] }) }
  return { draft, live: found!.revision }
}

const flow = { organization: 'acme', user: 'alice' }
const removed = [expect.objectContaining({ type: 'STEP_REMOVED', subject: 'form.steps[1]' })]

describe('DraftChecks', () => {
  it('checks small drafts on the calling thread, and large ones in a worker thread, with the same result', async () => {
    const small = await givenRemoval()
    expect(await checks.breakingChanges(small.draft, small.live, flow)).toEqual(removed)
    expect(await checks.violations(small.draft, flow)).toEqual([])
    expect(checks.running).toBe(0)

    const large = await givenRemoval('x'.repeat(100_000))
    expect(await checks.breakingChanges(large.draft, large.live, flow)).toEqual(removed)
    expect(checks.running).toBe(1)
    const incomplete = { ...large.draft, ...toStoredDraft(draftOf({ steps: [], name: 'x'.repeat(200) })) }
    const many = { ...incomplete, draftJson: `${incomplete.draftJson.slice(0, -1)}${' '.repeat(20_000)}}` }
    expect(await checks.violations(many, flow)).toEqual(await checks.violations(incomplete, flow))
  })

  it.runIf(process.platform === 'linux')('has threads of a lower priority than the event loop', async () => {
    const own = new DraftChecks()
    const large = await givenRemoval('x'.repeat(100_000))
    const threads = () => readdirSync('/proc/self/task').map(Number)
    const before = new Set(threads())

    await own.breakingChanges(large.draft, large.live, flow)
    const started = threads().filter((thread) => !before.has(thread))

    expect(started.map(getPriority)).toContain(getPriority(process.pid) + 5)
    await own.close()
  })
})
