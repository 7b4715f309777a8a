import { createApp } from '@fms/service-kit'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { createCircuit } from './circuit.ts'

it('tells in /metrics whether it is open, and what became of its requests', async () => {
  const logger = pino({ level: 'silent' })
  await using app = createApp({ logger })
  const told = async (series: string) => {
    const { body } = await app.inject('/metrics')
    return Number(
      body
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.split(' ')[1],
    )
  }
  const requests = (outcome: string) => told(`circuit_requests_total{circuit="it",outcome="${outcome}"}`)
  const circuit = createCircuit('it', logger)
  const work = () => circuit(async () => 'done')
  const fail = () => circuit(() => Promise.reject(new Error('away'))).catch(() => {})
  expect([await told('circuit_open{circuit="it"}'), await requests('reject')]).toEqual([0, 0])

  for (let i = 0; i < 5; i++) await fail()
  await expect(work()).rejects.toThrow()

  expect(await told('circuit_open{circuit="it"}')).toBe(1)
  expect([await requests('success'), await requests('failure'), await requests('reject')]).toEqual([0, 5, 1])

  await expect.poll(() => work().catch(() => 'open'), { timeout: 10_000 }).toBe('done')
  expect([await told('circuit_open{circuit="it"}'), await requests('success')]).toEqual([0, 1])
})
