import type { Memory } from '../sides/processes.ts'
import { type Slope, slopeOf } from './statistics.ts'

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
export const isGrowing = ({ rss }: Growth): boolean =>
  rss.perMinute > 2 * rss.standardError && rss.perMinute > negligiblePerMinute

/** MiB per minute: 1 MiB in ten minutes. */
const negligiblePerMinute = 0.1
