import { setTimeout as delay } from 'node:timers/promises'
import { createApp } from '@fms/service-kit'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { type Circuit, createCircuit, isOpenError } from './circuit.ts'

const logger = pino({ level: 'silent' })
const fail = (circuit: Circuit) =>
  circuit(() => Promise.reject(new Error('unavailable'))).catch((error) => error)
const work = (circuit: Circuit) => circuit(async () => 'done')

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
  const circuit = createCircuit('it', logger)
  expect([await metric('circuit_open{circuit="it"}'), await requests('reject')]).toEqual([0, 0])

  for (let i = 0; i < 5; i++) await fail(circuit)
  await expect(work(circuit)).rejects.toSatisfy(isOpenError)

  expect(await metric('circuit_open{circuit="it"}')).toBe(1)
  expect([await requests('success'), await requests('failure'), await requests('reject')]).toEqual([0, 5, 1])

  await expect.poll(() => work(circuit).catch(() => 'open'), { timeout: 10_000 }).toBe('done')
  expect([await metric('circuit_open{circuit="it"}'), await requests('success')]).toEqual([0, 1])
})

describe('a circuit', () => {
  it('stays closed while half of the requests succeed', async () => {
    const circuit = createCircuit('mixed', logger)
    for (let i = 0; i < 20; i++) {
      expect(await work(circuit)).toBe('done')
      await fail(circuit)
    }
  })

  const ignored = (circuit: Circuit) =>
    circuit(
      () => Promise.reject(new Error('rejected')),
      () => false,
    )

  it('ignores errors that are none of the transport', async () => {
    const circuit = createCircuit('ignoring', logger)
    for (let i = 0; i < 20; i++) await expect(ignored(circuit)).rejects.toThrow('rejected')

    expect(await work(circuit)).toBe('done')
  })

  it('stays open after a trial with such an error', async () => {
    const circuit = createCircuit('still open', logger)
    for (let i = 0; i < 5; i++) await fail(circuit)

    const trial = () => ignored(circuit).catch((error) => error.message)
    await expect.poll(trial, { timeout: 10_000 }).toBe('rejected')

    await expect(work(circuit)).rejects.toSatisfy(isOpenError)
  })

  it('logs its cause once when it opens, and once that it closes', async () => {
    const lines: { msg: string; cause?: string; err?: object }[] = []
    const circuit = createCircuit('logged', pino({}, { write: (line) => void lines.push(JSON.parse(line)) }))
    for (let i = 0; i < 6; i++) await fail(circuit)
    await expect.poll(async () => isOpenError(await fail(circuit)), { timeout: 10_000 }).toBe(false)
    await expect.poll(() => work(circuit).catch(() => 'open'), { timeout: 10_000 }).toBe('done')

    expect(lines.map(({ msg, cause, err }) => [msg, cause, err])).toEqual([
      ['circuit open: its requests fail immediately', 'Error: unavailable', undefined],
      ['circuit closed: its requests succeed again', undefined, undefined],
    ])
  })

  it('lets one request in a second through while it is open', async () => {
    const circuit = createCircuit('trying', logger)
    for (let i = 0; i < 5; i++) await fail(circuit)

    const trial = async () => isOpenError(await fail(circuit))
    await expect.poll(trial, { timeout: 10_000 }).toBe(false)

    await expect(work(circuit)).rejects.toSatisfy(isOpenError)
    await expect.poll(() => work(circuit).catch(() => 'open'), { timeout: 10_000 }).toBe('done')
  })
})

describe('a failure that took over a second', () => {
  const failAfter = (circuit: Circuit) =>
    circuit(async () => {
      await delay(1_050)
      throw new Error('timeout')
    })

  it.concurrent('opens the circuit', async () => {
    const circuit = createCircuit('timing out', logger)
    await expect(failAfter(circuit)).rejects.toThrow('timeout')

    await expect(work(circuit)).rejects.toSatisfy(isOpenError)
  })

  it.concurrent('does not open the circuit while other actions succeed', async () => {
    const circuit = createCircuit('slow', logger)
    const failing = failAfter(circuit)
    await delay(500)
    await work(circuit)
    await expect(failing).rejects.toThrow('timeout')

    expect(await work(circuit)).toBe('done')
  })
})
