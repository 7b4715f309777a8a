import { documentedRequests } from '@fms/testkit/documented-requests'
import { startMongo } from '@fms/testkit/mongodb'
import { describeCommand, recordMongodb } from '@fms/testkit/mongodb/mongodb-recorder'
import { afterAll, describe, expect, it } from 'vitest'
import { hashSecret } from '../api-key.ts'
import { openDirectory, start } from '../contract/given.ts'
import { migrateDirectoryStore, openDirectoryStore } from '../open-directory-store.ts'

const mongo = await startMongo()
await migrateDirectoryStore(mongo.url)
const recorder = await recordMongodb(mongo.url)
afterAll(async () => {
  await recorder[Symbol.asyncDispose]()
  await mongo[Symbol.asyncDispose]()
})

const { store, givenMember } = openDirectory((now) => openDirectoryStore(recorder.url, now))

const expectDocumented = (operation: string) => {
  const commands = recorder.take().map(describeCommand)
  expect(commands, commands.join(', ')).toHaveLength(documentedRequests(operation))
}

describe('the requests to MongoDB', () => {
  it.each([
    ['authorize, organization by id', 'organizationId'],
    ['authorize, organization by slug', 'slug'],
  ] as const)('are as many as documented: %s', async (operation, reference) => {
    const { userId, organization } = await givenMember()
    const { key } = await store().createKey({ userId, name: 'Test', readOnly: false })
    recorder.take()

    const query = { keyHash: hashSecret(key), organizationRef: organization[reference] }
    expect(await store().authorize(query, new Date())).toMatchObject({ organization: { role: 'editor' } })

    expectDocumented(operation)
  })

  it('are as many as documented: changes of keys', async () => {
    const { userId } = await givenMember()
    const expireTime = new Date(start + 1000)
    const code = await store().createLoginCode(userId, expireTime)
    recorder.take()

    const { keyId } = (await store().createOwnKey({ userId })).apiKey
    expectDocumented('create key')
    await store().rotateOwnKey({ userId, keyId, overlapMs: 0 })
    expectDocumented('rotate key')
    expect(await store().redeemLoginCode(code, { name: 'Console', expireTime })).toBeDefined()
    expectDocumented('sign in')
  })
})
