import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { freePorts } from '@fms/testkit/ports'
import { expect, it, onTestFinished, vi } from 'vitest'
import { connectNats } from './connect-nats.ts'

it('logs why NATS is out of reach after 5 s and then once a minute, without the password', async () => {
  const [port] = (await freePorts(1)) as [number]
  const stop = new AbortController()
  const lines: { seconds: number; line: string }[] = []
  let seconds = 0
  vi.spyOn(performance, 'now').mockImplementation(() => seconds++ * 1_000)
  onTestFinished(() => void vi.restoreAllMocks())
  const error = (fields: { err: Error }, text: string) => {
    lines.push({ seconds, line: `${text} ${fields.err.stack} ${JSON.stringify(fields.err)}` })
    seconds += 50
    if (lines.length === 2) stop.abort()
  }

  const url = `nats://forms:pass-of-forms@127.0.0.1:${port}`
  const attempt = connectNats(url, 'test', { logger: { error } as never, signal: stop.signal })

  await expect(attempt).rejects.toThrow(/abort/)
  const [first, second] = lines as [(typeof lines)[0], (typeof lines)[0]]
  expect(first.line).toMatch(/cannot connect to NATS \(NATS_URL\).*refused/is)
  expect(first.seconds).toBeGreaterThan(5)
  expect(second.seconds - first.seconds).toBeGreaterThanOrEqual(60)
  expect(JSON.stringify(lines)).not.toContain('pass-of-forms')
})

it('closes a connection that is made after the abort', async () => {
  const stop = new AbortController()
  const closed = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    socket.once('close', () => closed.resolve())
    socket.on('data', (data) => data.includes('PING') && socket.write('PONG\r\n'))
    stop.abort()
    socket.write('INFO {"server_id":"test","version":"2.14.0","max_payload":1048576,"proto":1}\r\n')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  const attempt = connectNats(`nats://127.0.0.1:${port}`, 'test', { signal: stop.signal })

  await expect(attempt).rejects.toThrow(/abort/)
  await closed.promise
})
