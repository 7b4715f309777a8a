import { FormEvent } from '@fms/contracts'
import { expect, it, vi } from 'vitest'
import { commandFor, givenForm, isReady, type Publisher, startPublishing } from './testing.ts'

const patience = { timeout: 30_000, interval: 10 }

const sample = async ({ app }: Publisher, name: string): Promise<number | undefined> => {
  const { body } = await app.inject('/metrics')
  const line = body.split('\n').find((each: string) => each.startsWith(`${name} `))
  return line === undefined ? undefined : Number(line.slice(name.length))
}

it('streams the event of a publish, and reports how far it is behind', async () => {
  await using publishing = await startPublishing()
  const { manager } = publishing
  const publisher = await publishing.publisher()
  const form = await givenForm(publishing.forms)
  const command = commandFor(form)

  const { reply } = await publishing.send(command, { 'x-request-id': 'mine' })
  expect(await reply).toMatchObject({ outcome: 'published' })

  const streamed = await vi.waitUntil(
    () => manager.streams.getMessage('EVENTS', { seq: 2 }).catch(() => null),
    patience,
  )
  expect(streamed.subject).toBe(`events.${form.organizationId}.form.published`)
  expect(FormEvent.parse(streamed.json())).toMatchObject({
    type: 'form.published',
    data: { actor: { user: `users/${command.userId}` }, httpRequestId: 'mine' },
  })
  await vi.waitUntil(async () => (await sample(publisher, 'events_unstreamed')) === 0, patience)
  expect(await sample(publisher, 'events_pending')).toBe(0)
  expect(await sample(publisher, 'events_oldest_unstreamed_seconds')).toBe(0)
  expect(await sample(publisher, 'events_relay_seconds_count')).toBe(2)
})

it('stays ready while events cannot be streamed, and reports their number and age', async () => {
  await using publishing = await startPublishing()
  const { manager } = publishing
  // NATS rejects a second stream with the same subjects.
  await manager.streams.add({ name: 'OTHER', subjects: ['events.>'], no_ack: true })
  const publisher = await publishing.publisher()

  await givenForm(publishing.forms)
  await givenForm(publishing.forms)

  await vi.waitUntil(async () => (await sample(publisher, 'events_unstreamed')) === 2, patience)
  const age = () => sample(publisher, 'events_oldest_unstreamed_seconds')
  await vi.waitUntil(async () => (await age())! > 0, patience)
  expect(await isReady(publisher)).toBe(true)
  await manager.streams.delete('OTHER')
  await vi.waitUntil(async () => (await sample(publisher, 'events_unstreamed')) === 0, patience)
})

it('exports no backlog while the store is unavailable', async () => {
  await using publishing = await startPublishing()
  const publisher = await publishing.publisher()
  expect(await sample(publisher, 'events_unstreamed')).toBe(0)
  vi.spyOn(publisher.store.events, 'backlog').mockRejectedValue(new Error('away'))

  await vi.waitUntil(async () => (await sample(publisher, 'events_unstreamed')) === undefined, patience)
  expect(await sample(publisher, 'events_pending')).toBeUndefined()
})
