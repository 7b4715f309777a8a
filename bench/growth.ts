import type { Memory } from './processes.ts'
import { type Slope, slopeOf } from './statistics.ts'

const mebibyte = 2 ** 20

/** The memory of one process at one time of a soak. */
export interface Sample extends Memory {
  process: string
  /** Since the begin. */
  seconds: number
}

/** Of one process, in MiB and MiB a minute. */
export interface Growth {
  process: string
  first: number
  last: number
  rss: Slope
  anonymous: Slope
}

/** How each process grew in the second half, when caches are full and compilers done. */
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

/** Whether the growth is more than chance: beyond two standard errors, and beyond what a day would forgive. */
export const isGrowing = ({ rss }: Growth): boolean =>
  rss.perMinute > 2 * rss.standardError && rss.perMinute > negligiblePerMinute

/** 1 MiB in ten minutes. */
const negligiblePerMinute = 0.1
