import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FairQueue, type FairQueueOptions, type QueueEntry } from './fair-queue.ts'

/** A queue, and the names of the flows whose work was admitted, in order. A flow is an organization and a user: `a1`. */
const givenQueue = (options: FairQueueOptions = { seats: 1 }) => {
  const queue = new FairQueue(options)
  const admitted: string[] = []
  const entries = new Map<string, QueueEntry>()
  const enter = (name: string, seats?: number) => {
    const flow = { organization: name[0]!, user: name.slice(0, 2) }
    const entry = queue.enter(flow, () => admitted.push(name), seats)
    entries.set(name, entry)
    return entry
  }
  const leave = (name: string) => queue.leave(entries.get(name)!)
  return { queue, admitted, enter, leave }
}

describe('FairQueue', () => {
  it('takes turns over organizations, and within each over its users', () => {
    const { enter, leave, admitted } = givenQueue()
    for (const name of ['a1 I', 'a1 II', 'a1 III', 'a2 I', 'b1 I', 'b1 II', 'c1 I']) enter(name)

    for (const name of ['a1 I', 'b1 I', 'c1 I', 'a2 I', 'b1 II', 'a1 II']) leave(name)

    expect(admitted).toEqual(['a1 I', 'b1 I', 'c1 I', 'a2 I', 'b1 II', 'a1 II', 'a1 III'])
  })

  it('admits a newcomer next, whatever waits', () => {
    const { enter, leave, admitted } = givenQueue({ seats: 3 })
    for (let number = 0; number < 100; number++) enter(`a1 ${number}`)
    enter('b1')

    leave('a1 1')

    expect(admitted).toEqual(['a1 0', 'a1 1', 'a1 2', 'b1'])
  })

  it('admits no more of a user and of an organization than they may hold, and others meanwhile', () => {
    const { enter, leave, admitted } = givenQueue({ seats: 8, perOrganization: 2, perUser: 1 })

    for (const name of ['a1 I', 'a1 II', 'a2 I', 'a3 I', 'b1 I']) enter(name)

    expect(admitted).toEqual(['a1 I', 'a2 I', 'b1 I'])
    leave('a2 I')
    expect(admitted.at(-1)).toBe('a3 I')
    leave('a1 I')
    expect(admitted.at(-1)).toBe('a1 II')
  })

  it('prefers the organization that holds fewer seats to one that has waited for longer', () => {
    const { enter, leave, admitted } = givenQueue({ seats: 3 })
    for (const name of ['b1 I', 'b1 II', 'a1 I', 'b1 III', 'a1 II']) enter(name)

    leave('a1 I')

    expect(admitted.at(-1)).toBe('a1 II')
  })

  it('admits a backlog although others come and go', () => {
    const { enter, leave, admitted } = givenQueue()
    for (const name of ['a1 I', 'a1 II', 'a1 III']) enter(name)
    let previous = 'a1 I'
    for (let round = 0; round < 12; round++) {
      enter(`${'bcd'[round % 3]}1 ${round}`)
      if (round === 0) continue
      leave(previous)
      previous = admitted.at(-1)!
    }

    expect(admitted).toContain('a1 III')
  })

  it('lets work that needs several seats wait for them, and nothing pass it meanwhile', () => {
    const { enter, leave, admitted } = givenQueue({ seats: 4 })
    for (const name of ['a1', 'b1', 'c1']) enter(name)
    enter('d1', 4)
    enter('e1')
    for (const name of ['a1', 'b1']) leave(name)
    expect(admitted).toEqual(['a1', 'b1', 'c1'])

    leave('c1')

    expect(admitted.slice(3)).toEqual(['d1'])
  })

  it('gives back a seat when work fails', async () => {
    const { queue } = givenQueue()
    const flow = { organization: 'a', user: 'a1' }

    await expect(queue.run(flow, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')

    expect(await queue.run(flow, () => 'done')).toBe('done')
    expect([queue.held, queue.waiting]).toEqual([0, 0])
  })
})

type Step = { step: 'enter'; flow: string; seats: number } | { step: 'end'; of: number }

const steps = (maxSeats: number): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.oneof(
      fc.record({
        step: fc.constant('enter' as const),
        flow: fc.constantFrom('a1', 'a2', 'a3', 'b1', 'b2', 'c1', 'd1'),
        seats: fc.integer({ min: 1, max: maxSeats }),
      }),
      // The end of work, or of a wait: callers leave at any time.
      fc.record({ step: fc.constant('end' as const), of: fc.nat() }),
    ),
    { maxLength: 120 },
  )

const limits: fc.Arbitrary<Required<FairQueueOptions>> = fc
  .tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 6 }))
  .map((numbers) => {
    const [perUser, perOrganization, seats] = numbers.toSorted((one, other) => one - other)
    return { seats: seats!, perOrganization: perOrganization!, perUser: perUser! }
  })

/** Work in the model. */
interface Work {
  flow: string
  entry: QueueEntry
  admissions: number
}

const sum = (works: readonly Work[]) => works.reduce((total, { entry }) => total + entry.seats, 0)
const isOf = (flow: string) => (work: Work) => work.flow === flow
const isOfOrganization = (flow: string) => (work: Work) => work.flow[0] === flow[0]

/** Runs steps. @param check called after each with all work that is not gone. */
const run = (
  options: Required<FairQueueOptions>,
  steps: readonly Step[],
  check: (present: Work[], queue: FairQueue) => void,
) => {
  const queue = new FairQueue(options)
  const all: Work[] = []
  const present = () => all.filter(({ entry }) => entry.state !== 'gone')
  const end = (works: Work[], of: number) => {
    const work = works[of % works.length]
    if (work) queue.leave(work.entry)
    // Changes nothing.
    if (work) queue.leave(work.entry)
  }
  for (const each of steps) {
    if (each.step === 'end') end(present(), each.of)
    else {
      const work: Work = { flow: each.flow, entry: undefined as never, admissions: 0 }
      const flow = { organization: each.flow[0]!, user: each.flow }
      work.entry = queue.enter(flow, () => work.admissions++, each.seats)
      all.push(work)
    }
    check(present(), queue)
  }
  return { queue, all, present, end }
}

describe('whatever arrives, leaves and fails', () => {
  it('admits nothing twice and forgets nothing', () => {
    fc.assert(
      fc.property(limits, steps(4), (options, given) => {
        const { queue, all, present, end } = run(options, given, (works, { waiting, held }) => {
          const isAdmitted = ({ entry }: Work) => entry.state === 'admitted'
          expect(waiting).toBe(works.filter((work) => !isAdmitted(work)).length)
          expect(held).toBe(sum(works.filter(isAdmitted)))
        })
        const admitted = () => present().filter(({ entry }) => entry.state === 'admitted')
        const left = all.filter(({ entry, admissions }) => entry.state === 'gone' && admissions === 0)
        while (present().length > 0) {
          // Work that waits while nothing is under way would wait forever.
          expect(admitted()).not.toEqual([])
          end(admitted(), 0)
        }
        expect(all.filter((work) => !left.includes(work)).every(({ admissions }) => admissions === 1)).toBe(
          true,
        )
        expect(left.every(({ admissions }) => admissions === 0)).toBe(true)
        expect([queue.held, queue.waiting]).toEqual([0, 0])
      }),
    )
  })

  it('keeps its limits, leaves no seat free that somebody may take, and keeps the order of each user', () => {
    fc.assert(
      fc.property(limits, steps(1), (options, given) => {
        run(options, given, (works) => {
          const admitted = works.filter(({ entry }) => entry.state === 'admitted')
          const waiting = works.filter(({ entry }) => entry.state === 'waiting')
          expect(sum(admitted)).toBeLessThanOrEqual(options.seats)
          for (const { flow } of admitted) {
            expect(sum(admitted.filter(isOfOrganization(flow)))).toBeLessThanOrEqual(options.perOrganization)
            expect(sum(admitted.filter(isOf(flow)))).toBeLessThanOrEqual(options.perUser)
          }
          for (const { flow } of waiting) {
            const isBlocked =
              sum(admitted) === options.seats ||
              sum(admitted.filter(isOfOrganization(flow))) === options.perOrganization ||
              sum(admitted.filter(isOf(flow))) === options.perUser
            expect(isBlocked).toBe(true)
          }
          for (const { flow } of works) {
            const states = works.filter(isOf(flow)).map(({ entry }) => entry.state)
            expect(states.lastIndexOf('admitted')).toBeLessThan(states.indexOf('waiting') >>> 0)
          }
        })
      }),
    )
  })

  it('admits at most one piece of work of each other waiting organization before that of a newcomer', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), steps(1), steps(1), (seats, before, after) => {
        const options = { seats, perOrganization: seats, perUser: seats }
        const newcomer: Step = { step: 'enter', flow: 'n1', seats: 1 }
        let ahead: Set<string> | undefined
        let known = new Set<QueueEntry>()
        const passed: string[] = []
        run(options, [...before, newcomer, ...after], (works) => {
          const own = works.find(isOf('n1'))
          const waiting = works.filter(({ entry }) => entry.state === 'waiting')
          if (own?.entry.state === 'waiting') {
            ahead ??= new Set(waiting.filter((work) => work !== own).map(({ flow }) => flow[0]!))
            for (const { flow, entry } of works)
              if (known.has(entry) && entry.state === 'admitted') passed.push(flow[0]!)
            expect(passed.every((each) => ahead!.has(each))).toBe(true)
            expect(new Set(passed).size).toBe(passed.length)
          }
          known = new Set(waiting.map(({ entry }) => entry))
        })
      }),
      { numRuns: 300 },
    )
  })

  it('gives organizations that always have work waiting the same number of turns, and their users as well', () => {
    const flows = ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']
    fc.assert(
      fc.property(fc.integer({ max: 200, min: 1 }), fc.integer({ min: 1, max: 3 }), (rounds, backlog) => {
        const queue = new FairQueue({ seats: 1 })
        const turns = new Map<string, number>(['a', 'b', 'c', ...flows].map((name) => [name, 0]))
        let underWay: QueueEntry | undefined
        const enter = (name: string) =>
          queue.enter({ organization: name[0]!, user: name }, (entry) => {
            underWay = entry
            for (const each of [name, name[0]!]) turns.set(each, turns.get(each)! + 1)
          })
        for (const name of flows) for (let count = 0; count < backlog; count++) enter(name)
        for (let round = 0; round < rounds; round++) {
          const ended = underWay!
          queue.leave(ended)
          enter(ended.flow.user)
        }
        const difference = (names: string[]) => {
          const counts = names.map((name) => turns.get(name)!)
          return Math.max(...counts) - Math.min(...counts)
        }
        expect(difference(['a', 'b', 'c'])).toBeLessThanOrEqual(1)
        expect(difference(['a1', 'a2', 'a3'])).toBeLessThanOrEqual(1)
        expect(difference(['c1', 'c2'])).toBeLessThanOrEqual(1)
      }),
    )
  })
})
