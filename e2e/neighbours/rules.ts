import { cutOff, hungUp } from './attacks.ts'
import type { Beside } from './neighbourhood.ts'

/** Memory of a service at any time of an attack, in MiB. */
const memoryBound = 400

/**
 * The longest synchronous work of a service, in milliseconds of CPU time: 50 for the largest legal form, 10 for the
 * precision of the metric, the rest for collections of garbage and for turns that serve many requests.
 */
const taskBound = 100

/** What a victim may wait at the 99th percentile, in milliseconds. */
export const p99Bound = (quiet: Pick<Beside, 'p99'>): number => Math.max(10 * quiet.p99, 250)

/** What the service promises a victim and did not keep, in words. */
export const breachesOf = (seen: Beside, quiet: Pick<Beside, 'p99'>): string[] => {
  const bound = p99Bound(quiet)
  const failures = Object.entries(Object.groupBy(seen.failures, (failure) => failure))
  return [
    ...failures.map(([failure, all]) => `${all!.length} of ${seen.requests} requests failed: ${failure}`),
    ...(seen.p99 > bound ? [`p99 is ${Math.round(seen.p99)} ms, above ${Math.round(bound)} ms`] : []),
    ...Object.entries(seen.strain).flatMap(([name, { peakMiB, longestTaskMs }]) => [
      ...(peakMiB > memoryBound ? [`${name} had ${Math.round(peakMiB)} MiB, above ${memoryBound}`] : []),
      ...(longestTaskMs > taskBound
        ? [`${name} worked for ${Math.round(longestTaskMs)} ms at a time, above ${taskBound}`]
        : []),
    ]),
  ]
}

/** Whether a response to the attack serves it, or says what to do: no lost connection, no failure of a service. */
export const isHelpful = (outcome: string): boolean =>
  outcome === hungUp || outcome === cutOff || /^(2\d\d|(4\d\d|503) (?!without)\w+)$/.test(outcome)
