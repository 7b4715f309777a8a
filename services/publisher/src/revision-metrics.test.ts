import { expect, it, vi } from 'vitest'
import { commandFor, givenForm, type Publisher, startPublishing } from './testing.ts'

const samples = async ({ app }: Publisher) => {
  const { body } = await app.inject('/metrics')
  const sampleOf = (name: string) => body.split(`${name}{store="forms"} `)[1]?.split('\n')[0]
  return { revisions: sampleOf('store_revisions'), bytes: sampleOf('store_revision_bytes') }
}

it('exports the number and the bytes of revisions, read at most once a minute', async () => {
  await using publishing = await startPublishing()
  const first = await publishing.publisher()
  const form = await givenForm(publishing.forms)
  const { reply } = await publishing.send(commandFor(form))
  await reply
  const total = vi.spyOn(first.store.revisionGrowth, 'total')
  const revision = await publishing.forms.getRevision({ ...form, formRef: form.formId }, 'live')
  const bytes = Buffer.byteLength(revision!.revision.formJson)

  total.mockRejectedValueOnce(new Error('away'))
  expect(await samples(first)).toEqual({ revisions: undefined, bytes: undefined })
  expect(await samples(first)).toEqual({ revisions: '1', bytes: `${bytes}` })
  const calls = total.mock.calls.length
  expect(await samples(first)).toEqual({ revisions: '1', bytes: `${bytes}` })
  expect(total.mock.calls.length).toBe(calls)
})
