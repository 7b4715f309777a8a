import { linearRegression, mean } from 'simple-statistics'
import type { Memory } from '../sides/processes.ts'
import { figure, type Table } from './tables.ts'

const mebibyte = 2 ** 20

/** The memory of one process at one moment of a soak test. */
export interface Sample extends Memory {
  process: string
  /** Since the start of the test. */
  seconds: number
}

/** How the memory of one process grew, in MiB and MiB per minute. */
export interface Growth {
  process: string
  first: number
  last: number
  rss: Slope
  anonymous: Slope
}

/** The growth of each process in the second half of the test, when caches are full and code is compiled. */
export const growthOf = (samples: readonly Sample[]): Growth[] => {
  const end = Math.max(...samples.map(({ seconds }) => seconds))
  return [...Map.groupBy(samples, ({ process }) => process)].map(([process, all]) => {
    const late = all.filter(({ seconds }) => seconds >= end / 2)
    const slope = (of: 'rss' | 'anonymous') =>
      slopeOf(late.map((sample) => [sample.seconds, sample[of] / mebibyte] as const))
    return {
      process,
      first: all[0]!.rss / mebibyte,
      last: all.at(-1)!.rss / mebibyte,
      rss: slope('rss'),
      anonymous: slope('anonymous'),
    }
  })
}

/** Whether the growth is significant: above two standard errors and above {@link negligiblePerMinute}. */
const isGrowing = ({ rss }: Growth): boolean =>
  rss.perMinute > 2 * rss.standardError && rss.perMinute > negligiblePerMinute

/** MiB per minute: 1 MiB in ten minutes. */
const negligiblePerMinute = 0.1

export interface Slope {
  perMinute: number
  /** Standard error of the slope. A slope below two standard errors is noise. */
  standardError: number
}

/** Fits a line by least squares to at least three points `[seconds, value]`. */
export const slopeOf = (points: readonly (readonly [number, number])[]): Slope => {
  const { m, b } = linearRegression(points.map((point) => [...point]))
  const middle = mean(points.map(([x]) => x))
  const squares = (values: number[]) => values.reduce((sum, value) => sum + value ** 2, 0)
  const residual = squares(points.map(([x, y]) => y - (m * x + b))) / (points.length - 2)
  const standardError = Math.sqrt(residual / squares(points.map(([x]) => x - middle)))
  return { perMinute: m * 60, standardError: standardError * 60 }
}

export const growthTable = (growth: readonly Growth[]): Table => ({
  columns: ['process', '', 'first MiB', 'last MiB', 'MiB/min', '±', 'own MiB/min', '±'],
  rows: growth.map((each) => [
    each.process,
    isGrowing(each) ? 'GROWS' : 'steady',
    figure(each.first),
    figure(each.last),
    signed(each.rss.perMinute),
    figure(each.rss.standardError),
    signed(each.anonymous.perMinute),
    figure(each.anonymous.standardError),
  ]),
  textColumns: 2,
})

const signed = (value: number) => `${value < 0 ? '−' : '+'}${figure(Math.abs(value))}`
