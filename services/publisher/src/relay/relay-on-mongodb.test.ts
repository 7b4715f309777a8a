import { randomUUID } from 'node:crypto'
import { migrateFormsStore } from '@fms/forms-store'
import { startMongo } from '@fms/testkit/mongodb'
import { expect, it, vi } from 'vitest'
import { givenForm } from '../testing.ts'
import { patience, sequencesOf, startRelaying, upTo } from './testing/start-relaying.ts'

it('numbers, streams and checkpoints the events of several organizations, from two publishers', async () => {
  await using mongo = await startMongo()
  await migrateFormsStore(mongo.url)
  await using relaying = await startRelaying(mongo.url)
  const { forms, streamed } = relaying
  const relays = [await relaying.relay(), await relaying.relay()]
  await relaying.read()
  const organizations = Array.from({ length: 3 }, () => randomUUID())
  const created = await Promise.all(
    [...organizations, ...organizations].map((organizationId) => givenForm(forms, { organizationId })),
  )

  for (let change = 0; change < 5; change++) {
    await Promise.all(created.map(relaying.rename))
    for (const relay of relays) relay.wake()
  }
  const [deleted] = created
  await forms.delete({ organizationId: deleted!.organizationId, formRef: deleted!.formId }, () => {})

  await vi.waitUntil(() => streamed.length >= 37, patience)
  for (const form of created.slice(0, 3)) {
    const { organizationId } = form
    expect(sequencesOf(streamed, form)).toEqual(upTo(organizationId === deleted!.organizationId ? 13 : 12))
    const ofOrganization = streamed.filter(({ subject }) => subject.startsWith(`events.${organizationId}.`))
    const log = await forms.events.read({ organizationId, limit: 100 })
    expect(ofOrganization.map(({ event }) => event)).toEqual(log)
  }
  await vi.waitUntil(async () => {
    const { pending, unstreamed } = await forms.events.backlog()
    return pending === 0 && unstreamed === 0
  }, patience)
})
