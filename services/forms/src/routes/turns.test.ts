import { describe, expect, it } from 'vitest'
import { countTurns } from '../testing/count-turns.ts'
import { isLongPage, Turns } from './turns.ts'

const { signal } = new AbortController()

describe('Turns', () => {
  it('does the work of a user in separate turns of the event loop, beside that of others', async () => {
    using counted = countTurns()
    const turns = new Turns()
    const take = (caller: string) => turns.take({ caller, signal }, counted.now)

    const own = await Promise.all([take('ada'), take('ada'), take('ada')])
    const [first, other] = await Promise.all([take('ada'), take('grace')])

    expect(new Set(own).size).toBe(3)
    expect(other).toBe(first)
  })

  it('does nothing for a caller that has disconnected', async () => {
    const gone = AbortSignal.abort(new Error('gone'))

    const work = new Turns().take({ caller: 'ada', signal: gone }, () => {
      throw new Error('done')
    })

    await expect(work).rejects.toThrow('gone')
  })
})

describe('isLongPage', () => {
  it.each([
    [{ limit: 100, skip: 0 }, false],
    [{ limit: 101, skip: 0 }, true],
    [{ limit: 10, skip: 91 }, true],
  ])('%o: %s', (page, expected) => {
    expect(isLongPage(page)).toBe(expected)
  })
})
