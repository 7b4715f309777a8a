import { setTimeout as delay } from 'node:timers/promises'
import { createApp } from '@fms/service-kit'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { Abandoned, ConcurrencyLimitReached, createCircuit, UpstreamFailure } from './circuit.ts'

it('has metrics of its state and of the outcomes of its requests', async () => {
  const logger = pino({ level: 'silent' })
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
  const circuit = createCircuit('it', logger, 10)
  const work = () => circuit(async () => 'done')
  const fail = () => circuit(() => Promise.reject(new Error('unavailable'))).catch(() => {})
  expect([await metric('circuit_open{circuit="it"}'), await requests('reject')]).toEqual([0, 0])

  for (let i = 0; i < 5; i++) await fail()
  await expect(work()).rejects.toThrow()

  expect(await metric('circuit_open{circuit="it"}')).toBe(1)
  expect([await requests('success'), await requests('failure'), await requests('reject')]).toEqual([0, 5, 1])

  await expect.poll(() => work().catch(() => 'open'), { timeout: 10_000 }).toBe('done')
  expect([await metric('circuit_open{circuit="it"}'), await requests('success')]).toEqual([0, 1])
})

describe('a failure that took over a second', () => {
  const logger = pino({ level: 'silent' })
  const failAfter = (ms: number, error: Error) => async () => {
    await delay(ms)
    throw error
  }
  const isOpen = (circuit: ReturnType<typeof createCircuit>) =>
    circuit(async () => false).catch(({ message }) => message === 'Breaker is open')

  it.concurrent('opens the circuit', async () => {
    const circuit = createCircuit('timing out', logger, 10)
    await expect(circuit(failAfter(1_050, new Error('timeout')))).rejects.toThrow('timeout')

    expect(await isOpen(circuit)).toBe(true)
  })

  it.concurrent('does not open the circuit while other actions succeed', async () => {
    const circuit = createCircuit('slow', logger, 10)
    const failing = circuit(failAfter(1_050, new Error('timeout')))
    await delay(500)
    await circuit(async () => 'done')
    await expect(failing).rejects.toThrow('timeout')

    expect(await isOpen(circuit)).toBe(false)
  })

  it.concurrent('does not open the circuit when the upstream has responded', async () => {
    const circuit = createCircuit('responding', logger, 10)
    await expect(circuit(failAfter(1_050, new UpstreamFailure('no')))).rejects.toThrow('no')

    expect(await isOpen(circuit)).toBe(false)
  })
})

it('rejects actions beyond its maximum in flight, which are no failures', async () => {
  const circuit = createCircuit('full', pino({ level: 'silent' }), 2)
  const blocked = Promise.withResolvers<string>()
  const running = [circuit(() => blocked.promise), circuit(() => blocked.promise)]

  for (let i = 0; i < 20; i++)
    await expect(circuit(async () => 'more')).rejects.toThrow(ConcurrencyLimitReached)
  blocked.resolve('done')

  expect(await Promise.all(running)).toEqual(['done', 'done'])
  expect(await circuit(async () => 'next')).toBe('next')
})

describe('an action whose caller has disconnected', () => {
  const logger = pino({ level: 'silent' })
  const abandonAfter = (ms: number) => async () => {
    await delay(ms)
    throw new Abandoned('disconnected')
  }

  it('is not a failure', async () => {
    const circuit = createCircuit('abandoned', logger, 100)

    for (let i = 0; i < 20; i++) await expect(circuit(abandonAfter(0))).rejects.toThrow('disconnected')

    expect(await circuit(async () => 'works')).toBe('works')
  })

  it('opens the circuit after more than a second without a response', async () => {
    const circuit = createCircuit('abandoned late', logger, 100)
    await expect(circuit(abandonAfter(1_050))).rejects.toThrow('disconnected')

    await expect(circuit(async () => 'works')).rejects.toThrow('Breaker is open')
  })
})

it('opens only for the caller whose actions fail, and evicts the least recently used breakers', async () => {
  const circuit = createCircuit('callers', pino({ level: 'silent' }), 10)
  const fail = (caller: string) =>
    circuit(() => Promise.reject(new Error('unavailable')), caller).catch(() => {})
  for (let i = 0; i < 5; i++) await fail('attacker')

  await expect(circuit(async () => 'works', 'attacker')).rejects.toThrow('Breaker is open')
  expect(await circuit(async () => 'works', 'victim')).toBe('works')
  for (let i = 0; i < 1_000; i++) await fail(`other ${i}`)

  expect(await circuit(async () => 'works', 'attacker')).toBe('works')
})
