import type { lookup as systemLookup } from 'node:dns'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent } from 'undici'
import { describe, expect, it } from 'vitest'
import { shuffledLookup } from './connections.ts'

/** A resolver that returns these addresses, always in this order. */
const resolver = (...addresses: string[]) =>
  ((_name: string, _options: unknown, done: (error: null, found: object[]) => void) =>
    done(
      null,
      addresses.map((address) => ({ address, family: 4 })),
    )) as unknown as typeof systemLookup

/** A server that responds with its own address. */
const listen = async (address: string, port = 0) => {
  const server = createServer((_, response) => response.setHeader('connection', 'close').end(address))
  await once(server.listen(port, address), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      await once(server.close(), 'close')
    },
  }
}

/** Sends requests on separate connections, and returns the address that each one reached. */
const reachedAddresses = async (count: number, lookup: typeof systemLookup, port: number) => {
  const agent = new Agent({ connect: { lookup: shuffledLookup(lookup) } })
  const requests = Array.from({ length: count }, async () => {
    const { body } = await agent.request({ origin: `http://forms:${port}`, method: 'GET', path: '/' })
    return body.text()
  })
  try {
    return await Promise.all(requests)
  } finally {
    await agent.close()
  }
}

// Only Linux has 127.0.0.2 without configuration.
describe.runIf(process.platform === 'linux')('connections to a name of two addresses', () => {
  it('go to both, although the resolver always returns the same one first', async () => {
    await using one = await listen('127.0.0.1')
    await using _ = await listen('127.0.0.2', one.port)

    const reached = await reachedAddresses(64, resolver('127.0.0.1', '127.0.0.2'), one.port)

    expect(new Set(reached)).toEqual(new Set(['127.0.0.1', '127.0.0.2']))
  })

  it('go to the other one when one does not respond', async () => {
    await using one = await listen('127.0.0.1')

    const reached = await reachedAddresses(32, resolver('127.0.0.2', '127.0.0.1'), one.port)

    expect(new Set(reached)).toEqual(new Set(['127.0.0.1']))
  })
})
