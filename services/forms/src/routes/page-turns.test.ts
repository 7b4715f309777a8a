import { describe, expect, it } from 'vitest'
import { countTurns } from '../testing/count-turns.ts'
import { PageTurns } from './page-turns.ts'

const { signal } = new AbortController()

describe('PageTurns', () => {
  it('reads the long pages of a user in separate turns of the event loop, beside those of others', async () => {
    using turns = countTurns()
    const pages = new PageTurns()
    const take = (caller: string, limit: number) =>
      pages.take({ limit, skip: 0 }, { caller, signal }, async () => turns.now())

    const own = await Promise.all([take('ada', 1_000), take('ada', 1_000), take('ada', 101)])
    const [first, second, short] = await Promise.all([
      take('ada', 1_000),
      take('grace', 1_000),
      take('ada', 100),
    ])

    expect(new Set(own).size).toBe(3)
    expect(second).toBe(first)
    expect(short).toBeLessThan(first!)
  })

  it('counts skipped items', async () => {
    using turns = countTurns()
    const pages = new PageTurns()
    const take = () => pages.take({ limit: 10, skip: 91 }, { caller: 'ada', signal }, async () => turns.now())

    expect(new Set(await Promise.all([take(), take()])).size).toBe(2)
  })

  it('reads nothing for a caller that has disconnected', async () => {
    const pages = new PageTurns()
    const gone = AbortSignal.abort(new Error('gone'))

    const page = pages.take({ limit: 1_000, skip: 0 }, { caller: 'ada', signal: gone }, async () => {
      throw new Error('read')
    })

    await expect(page).rejects.toThrow('gone')
  })
})
