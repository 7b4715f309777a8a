import { setTimeout as delay } from 'node:timers/promises'
import { createApp } from '@fms/service-kit'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { Circuit, CircuitOpen } from './circuit.ts'

const logger = pino({ level: 'silent' })
const fail = (circuit: Circuit) =>
  circuit.run(() => Promise.reject(new Error('unavailable'))).catch((error) => error)
const work = (circuit: Circuit) => circuit.run(async () => 'done')

it('has metrics of its state and of the outcomes of its requests', async () => {
  await using app = createApp({ logger })
  const metric = async (series: string) => {
    const { body } = await app.inject('/metrics')
    return Number(
      body
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.split(' ')[1],
    )
  }
  const requests = (outcome: string) => metric(`circuit_requests_total{circuit="it",outcome="${outcome}"}`)
  const circuit = new Circuit('it', logger)
  expect([await metric('circuit_open{circuit="it"}'), await requests('reject')]).toEqual([0, 0])

  for (let i = 0; i < 5; i++) await fail(circuit)
  await expect(work(circuit)).rejects.toThrow(CircuitOpen)

  expect(await metric('circuit_open{circuit="it"}')).toBe(1)
  expect([await requests('success'), await requests('failure'), await requests('reject')]).toEqual([0, 5, 1])

  await expect.poll(() => work(circuit).catch(() => 'open'), { timeout: 10_000 }).toBe('done')
  expect([await metric('circuit_open{circuit="it"}'), await requests('success')]).toEqual([0, 1])
})

describe('a circuit', () => {
  it('stays closed while some requests succeed', async () => {
    const circuit = new Circuit('mixed', logger)
    for (let i = 0; i < 20; i++) {
      await fail(circuit)
      expect(await work(circuit)).toBe('done')
    }
  })

  it('ignores errors that are none of the transport', async () => {
    const circuit = new Circuit('ignoring', logger)
    const rejected = () =>
      circuit.run(
        () => Promise.reject(new Error('rejected')),
        () => false,
      )

    for (let i = 0; i < 20; i++) await expect(rejected()).rejects.toThrow('rejected')

    expect(await work(circuit)).toBe('done')
  })

  it('lets one request in a second through while it is open', async () => {
    const circuit = new Circuit('trying', logger)
    for (let i = 0; i < 5; i++) await fail(circuit)
    let trials = 0
    const tryOnce = () => circuit.run(async () => void trials++).catch(() => {})
    await expect.poll(() => tryOnce().then(() => trials)).toBe(1)
    for (let i = 0; i < 4; i++) await fail(circuit)
    expect(await work(circuit)).toBe('done')
  })
})

describe('a failure that took over a second', () => {
  const failAfter = (circuit: Circuit) =>
    circuit.run(async () => {
      await delay(1_050)
      throw new Error('timeout')
    })

  it.concurrent('opens the circuit', async () => {
    const circuit = new Circuit('timing out', logger)
    await expect(failAfter(circuit)).rejects.toThrow('timeout')

    await expect(work(circuit)).rejects.toThrow(CircuitOpen)
  })

  it.concurrent('does not open the circuit while other actions succeed', async () => {
    const circuit = new Circuit('slow', logger)
    const failing = failAfter(circuit)
    await delay(500)
    await work(circuit)
    await expect(failing).rejects.toThrow('timeout')

    expect(await work(circuit)).toBe('done')
  })
})
