import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { apiKeyInvalid, organizationNotFound } from '@fms/service-kit'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { authenticationUnavailable, tooManyAtOnce } from '../errors.ts'
import { OpenStream } from './open-stream.ts'

/** Interval of authorizations, in milliseconds. */
const intervalMs = 2_000

/** A stream whose authorizations the test settles. */
const openStream = () => {
  const authorizations: PromiseWithResolvers<void>[] = []
  const authorize = () => {
    const authorization = Promise.withResolvers<void>()
    authorizations.push(authorization)
    return authorization.promise
  }
  const raw = new ServerResponse(new IncomingMessage(new Socket()))
  const log = pino({ level: 'silent' })
  const info = vi.spyOn(log, 'info')
  const stream = new OpenStream({ raw, body: new PassThrough(), log, authorize })
  return {
    authorizations,
    endReasons: () => info.mock.calls.map(([fields]) => (fields as unknown as { reason: string }).reason),
    [Symbol.dispose]: () => {
      stream.end('caller')
      raw.destroy()
    },
  }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

describe('the authorization of an open stream', () => {
  it('is repeated, and not while the previous one is in progress', async () => {
    using stream = openStream()
    vi.advanceTimersByTime(4 * intervalMs)
    expect(stream.authorizations).toHaveLength(1)

    stream.authorizations[0]!.resolve()
    await new Promise(setImmediate)
    vi.advanceTimersByTime(intervalMs)

    expect(stream.authorizations).toHaveLength(2)
    expect(stream.endReasons()).toEqual([])
  })

  it.each([
    ['unauthorized', apiKeyInvalid()],
    ['unauthorized', organizationNotFound('acme')],
    ['unavailable', authenticationUnavailable(undefined)],
    ['unavailable', tooManyAtOnce('user', 64)],
    ['unavailable', new Error('a defect')],
  ])('ends the stream as %s after %s', async (reason, error) => {
    using stream = openStream()
    vi.advanceTimersByTime(intervalMs)
    stream.authorizations[0]!.reject(error)
    await new Promise(setImmediate)

    expect(stream.endReasons()).toEqual([reason])
  })
})
