import { aborted, closedByService } from './attacks.ts'
import type { Observation } from './start-neighbourhood.ts'

/** Bound of the memory of a service, in MiB. */
const memoryBound = 400

/**
 * Bound of a synchronous task of a service, in milliseconds of CPU time: 50 for the largest valid form, 10 for the
 * precision of the metric, the rest for garbage collection and for event-loop turns that serve many requests.
 */
const taskBound = 100

type P99 = Pick<Observation, 'p99'>

/** Bound of the victim's p99 in milliseconds. */
const p99Bound = (baseline: P99): number => Math.max(10 * baseline.p99, 250)

/** Whether the victim's p99 is above its bound. @param baseline without attacks. */
export const isTooSlow = (observed: P99, baseline: P99): boolean => observed.p99 > p99Bound(baseline)

/** One message per bound that was exceeded and per failed request of the victim. @param baseline without attacks. */
export const breachesOf = (observed: Observation, baseline: P99): string[] => {
  const failures = Object.entries(Object.groupBy(observed.failures, (failure) => failure))
  return [
    ...failures.map(([failure, all]) => `${all!.length} of ${observed.requests} requests failed: ${failure}`),
    ...(isTooSlow(observed, baseline)
      ? [`p99 is ${Math.round(observed.p99)} ms, above ${Math.round(p99Bound(baseline))} ms`]
      : []),
    ...Object.entries(observed.usage).flatMap(([name, { peakMiB, longestTaskMs }]) => [
      ...(peakMiB > memoryBound ? [`${name} had ${Math.round(peakMiB)} MiB, above ${memoryBound}`] : []),
      ...(longestTaskMs > taskBound
        ? [`${name} had a task of ${Math.round(longestTaskMs)} ms, above ${taskBound}`]
        : []),
    ]),
  ]
}

/** Whether the outcome of an attacker's request is a success or an error with a reason, not a broken connection. */
export const isProperOutcome = (outcome: string): boolean =>
  outcome === aborted || outcome === closedByService || /^(2\d\d|(4\d\d|503) (?!without)\w+)$/.test(outcome)
