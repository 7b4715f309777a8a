import { describe, expect, it } from 'vitest'
import { TimeLeft } from './progress.ts'

/** The estimate each second, in seconds, of work that takes `msOf` for each of its steps. */
const estimates = (
  total: number,
  msOf: (step: number) => number,
): { ms: number; text: string; leftMs: number }[] => {
  const ends = Array.from({ length: total }, (_, step) => msOf(step)).map(
    (
      (sum) => (ms) =>
        (sum += ms)
    )(0),
  )
  const timeLeft = new TimeLeft(total, 0)
  return ends.map((ms, step) => ({ ms, text: timeLeft.after(step + 1, ms), leftMs: ends.at(-1)! - ms }))
}

const secondsOf = (text: string): number => {
  const [, hours = 0, minutes = 0, seconds = 0] = /^(?:(\d+) h )?(?:(\d+) min )?(?:(\d+) s )?left$/.exec(
    text,
  )!
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
}

describe('the time left', () => {
  it('is exact to the rounding for work at an even rate', () => {
    const shown = estimates(20_000, () => 20).filter(({ ms }) => ms >= 3_000)

    for (const { text, leftMs } of shown) expect(Math.abs(secondsOf(text) - leftMs / 1000)).toBeLessThan(32)
    expect(shown[0]!.text).toBe('7 min left')
    expect(shown.at(-1)!.text).toBe('0 s left')
  })

  it('does not jump if every other step takes twenty times as long', () => {
    const shown = estimates(40_000, (step) => (step % 2 ? 1 : 20)).filter(({ ms }) => ms >= 5_000)

    const changes = shown
      .slice(1)
      .map(({ text }, index) => Math.abs(secondsOf(text) - secondsOf(shown[index]!.text)))
    expect(Math.max(...changes)).toBeLessThanOrEqual(60)
  })

  it('changes by less than a third in a pause of three seconds', () => {
    const shown = estimates(30_000, (step) => (step === 6_000 ? 3_000 : 10))
    const [before, after] = [shown[5_999]!, shown[6_000]!].map(({ text }) => secondsOf(text))

    expect(after! / before!).toBeLessThan(4 / 3)
  })

  it('adapts to a permanent change of the rate', () => {
    // Like a repeated copy: existing records take almost no time.
    const shown = estimates(20_000, (step) => (step < 10_000 ? 1 : 20))

    const { text, leftMs } = shown[16_000]!
    expect(Math.abs(secondsOf(text) - leftMs / 1000)).toBeLessThan(45)
  })

  it('is unknown for the first three seconds, and updates once a second', () => {
    const timeLeft = new TimeLeft(100, 0)

    expect(timeLeft.after(1, 500)).toBe('estimating the time')
    expect(timeLeft.after(2, 2_900)).toBe('estimating the time')
    expect(timeLeft.after(10, 10_000)).toBe('90 s left')
    expect(timeLeft.after(80, 10_999)).toBe('90 s left')
    expect(timeLeft.after(80, 11_000)).toBe('5 s left')
  })

  it('of hours is rounded to ten minutes', () => {
    expect(new TimeLeft(1_000, 0).after(1, 10_000)).toBe('2 h 50 min left')
  })
})
