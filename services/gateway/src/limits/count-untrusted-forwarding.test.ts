import { expect, it } from 'vitest'
import { startGateway } from '../testing.ts'

const counted = async (trustProxy?: string) => {
  await using gateway = await startGateway({ ...(trustProxy && { trustProxy }) })
  const read = async () => {
    const { text } = await gateway.send('GET', '/metrics')
    return Number(/^http_untrusted_forwarded_total (\d+)$/m.exec(text)![1])
  }
  const before = await read()
  await gateway.send('GET', '/healthz')
  await gateway.send('GET', '/healthz', { headers: { 'x-forwarded-for': '192.0.2.1' } })
  return (await read()) - before
}

it('counts requests whose X-Forwarded-For is ignored', async () => {
  expect(await counted()).toBe(1)
  expect(await counted('10.0.0.0/8')).toBe(1)
  expect(await counted('127.0.0.1')).toBe(0)
})
