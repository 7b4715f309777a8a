import { setTimeout as delay } from 'node:timers/promises'
import { createApp } from '@fms/service-kit'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { Abandoned, ConcurrencyLimitReached, createCircuit, Refused } from './circuit.ts'

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
  const circuit = createCircuit('it', logger, 10)
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

describe('a failure that took over a second', () => {
  const logger = pino({ level: 'silent' })
  const failAfter = (ms: number, error: Error) => async () => {
    await delay(ms)
    throw error
  }
  const isOpen = (circuit: ReturnType<typeof createCircuit>) =>
    circuit(async () => false).catch(({ message }) => message === 'Breaker is open')

  it.concurrent('opens the circuit alone', async () => {
    const circuit = createCircuit('silent', logger, 10)
    await expect(circuit(failAfter(1_050, new Error('silence')))).rejects.toThrow('silence')

    expect(await isOpen(circuit)).toBe(true)
  })

  it.concurrent('opens nothing while others succeed', async () => {
    const circuit = createCircuit('slow', logger, 10)
    const failing = circuit(failAfter(1_050, new Error('silence')))
    await delay(500)
    await circuit(async () => 'answer')
    await expect(failing).rejects.toThrow('silence')

    expect(await isOpen(circuit)).toBe(false)
  })

  it.concurrent('opens nothing where it was an answer', async () => {
    const circuit = createCircuit('refusing', logger, 10)
    await expect(circuit(failAfter(1_050, new Refused('no')))).rejects.toThrow('no')

    expect(await isOpen(circuit)).toBe(false)
  })
})

it('lets through so many at once, and does not hold it against them', async () => {
  const circuit = createCircuit('full', pino({ level: 'silent' }), 2)
  const letGo = Promise.withResolvers<string>()
  const running = [circuit(() => letGo.promise), circuit(() => letGo.promise)]

  for (let i = 0; i < 20; i++)
    await expect(circuit(async () => 'more')).rejects.toThrow(ConcurrencyLimitReached)
  letGo.resolve('done')

  expect(await Promise.all(running)).toEqual(['done', 'done'])
  expect(await circuit(async () => 'next')).toBe('next')
})

describe('an action that nobody waits for any longer', () => {
  const logger = pino({ level: 'silent' })
  const abandonAfter = (ms: number) => async () => {
    await delay(ms)
    throw new Abandoned('gone')
  }

  it('is no failure', async () => {
    const circuit = createCircuit('abandoned', logger, 100)

    for (let i = 0; i < 20; i++) await expect(circuit(abandonAfter(0))).rejects.toThrow('gone')

    expect(await circuit(async () => 'works')).toBe('works')
  })

  it('opens the circuit where there was no answer for over a second', async () => {
    const circuit = createCircuit('abandoned in silence', logger, 100)
    await expect(circuit(abandonAfter(1_050))).rejects.toThrow('gone')

    await expect(circuit(async () => 'works')).rejects.toThrow('Breaker is open')
  })
})

it('opens for the caller whose actions fail alone, and forgets the callers of long ago', async () => {
  const circuit = createCircuit('callers', pino({ level: 'silent' }), 10)
  const fail = (caller: string) => circuit(() => Promise.reject(new Error('away')), caller).catch(() => {})
  for (let i = 0; i < 5; i++) await fail('attacker')

  await expect(circuit(async () => 'works', 'attacker')).rejects.toThrow('Breaker is open')
  expect(await circuit(async () => 'works', 'victim')).toBe('works')
  for (let i = 0; i < 1_000; i++) await fail(`other ${i}`)

  expect(await circuit(async () => 'works', 'attacker')).toBe('works')
})
