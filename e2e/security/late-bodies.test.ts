import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { openDirectoryStore } from '@fms/directory-store'
import { describe, expect, it } from 'vitest'
import { sharedSystem } from '../shared-system.ts'
import { publishable } from '../system.ts'

const system = await sharedSystem()

describe('a request with a delayed body', () => {
  /** More than the second that an authorization is cached. */
  const bodyDelayMs = 1_500

  it.concurrent.each(['create', 'patch', 'publish', 'delete'])(
    'is rejected when its key was revoked before the body arrived: %s',
    async (operation) => {
      const owner = await system.account()
      const { body: created } = await system.call(owner, 'POST', owner.forms, { form: publishable() })
      const form = `${owner.forms}/${created.publicId}`
      const { key, keyId } = await newKey(owner.userId)
      const before = await system.call(owner, 'GET', form)
      const requests = {
        create: ['POST', owner.forms, { form: { name: `Late ${keyId}` } }],
        patch: ['PATCH', form, { form: { name: 'Late' } }],
        publish: ['POST', `${form}/publish`, {}],
        delete: ['DELETE', form, {}],
      } as const
      const [method, path, body] = requests[operation as keyof typeof requests]
      const bytes = JSON.stringify(body).padEnd(16)

      const request = await sendHead(method, `/v2${path}`, key, bytes)
      // The response to this later request shows that the gateway has authorized the first head.
      expect((await system.call({ ...owner, apiKey: key }, 'GET', form)).status).toBe(200)
      await revokeKey(keyId)
      await delay(bodyDelayMs)

      expect(await request.finish()).toMatch(/^HTTP\/1\.1 401 /)
      expect((await system.call(owner, 'GET', form)).headers.get('etag')).toBe(before.headers.get('etag'))
      const { body: list } = await system.call(
        owner,
        'GET',
        `${owner.forms}?filter=${encodeURIComponent(`name="Late ${keyId}"`)}`,
      )
      expect(list.totalSize).toBe(0)
    },
  )
})

const newKey = async (userId: string) => {
  await using directory = await openDirectoryStore(system.directoryStoreUrl)
  const { key, apiKey } = await directory.createKey({ userId, name: 'Late', readOnly: false })
  return { key, keyId: apiKey.keyId }
}

const revokeKey = async (keyId: string) => {
  await using directory = await openDirectoryStore(system.directoryStoreUrl)
  await directory.revokeKey(keyId)
}

/** Sends the head and the first five bytes of a body. */
const sendHead = async (method: string, path: string, apiKey: string, body: string) => {
  const { hostname, port } = new URL(system.baseUrl)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const response = new Promise<string>((resolve, reject) => {
    socket.once('data', (chunk) => resolve(chunk.toString()))
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the connection ended without a response')))
  })
  socket.write(
    `${method} ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\ncontent-type: application/json\r\n` +
      `content-length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
  )
  return {
    async finish(): Promise<string> {
      socket.write(body.slice(5))
      try {
        return await response
      } finally {
        socket.destroy()
      }
    },
  }
}
