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
