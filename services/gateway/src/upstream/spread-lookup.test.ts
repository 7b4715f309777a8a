import type { lookup as systemLookup } from 'node:dns'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent } from 'undici'
import { describe, expect, it } from 'vitest'
import { spreadLookup } from './spread-lookup.ts'

/** A resolver that gives these addresses, always in this order. */
const resolver = (...addresses: string[]) =>
  ((_name: string, _options: unknown, done: (error: null, found: object[]) => void) =>
    done(
      null,
      addresses.map((address) => ({ address, family: 4 })),
    )) as unknown as typeof systemLookup

/** Answers with its own address. */
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

/** Which address answers each of so many requests, all on connections of their own. */
const answers = async (count: number, lookup: typeof systemLookup, port: number) => {
  const agent = new Agent({ connect: { lookup: spreadLookup(lookup) } })
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

// The second address of the loopback is there without doing anything on Linux alone.
describe.runIf(process.platform === 'linux')('connections to a name of two addresses', () => {
  it('go to both, though the resolver always names the same first', async () => {
    await using one = await listen('127.0.0.1')
    await using _ = await listen('127.0.0.2', one.port)

    const answered = await answers(64, resolver('127.0.0.1', '127.0.0.2'), one.port)

    expect(new Set(answered)).toEqual(new Set(['127.0.0.1', '127.0.0.2']))
  })

  it('go to the other where one is away', async () => {
    await using one = await listen('127.0.0.1')

    const answered = await answers(32, resolver('127.0.0.2', '127.0.0.1'), one.port)

    expect(new Set(answered)).toEqual(new Set(['127.0.0.1']))
  })
})
