import { aborted, closedByService } from './attacks.ts'
import type { Observation } from './start-neighbourhood.ts'

/** Bound of the memory of a service, in MiB. */
const memoryBound = 400

/**
 * Bound of a synchronous task of a service, in milliseconds of CPU time: 50 for the largest valid form, 10 for the
 * precision of the metric, the rest for garbage collection and for event-loop turns that serve many requests.
 */
const taskBound = 100

type Times = Pick<Observation, 'p99' | 'patchP99' | 'publishP99'>

/** Bounds of the victim's p99 in milliseconds, unless ten times that of an idle system is more. */
const p99Bounds: Times = { p99: 250, patchP99: 400, publishP99: 800 }

/** The kinds of the victim's requests that are slower than their bounds. @param baseline without attacks. */
const slowOf = (observed: Times, baseline: Times): string[] =>
  (Object.keys(p99Bounds) as (keyof Times)[]).flatMap((kind) => {
    const bound = Math.max(10 * (Number.isFinite(baseline[kind]) ? baseline[kind] : 0), p99Bounds[kind])
    const isSlow = Number.isFinite(observed[kind]) && observed[kind] > bound
    return isSlow ? [`${kind} is ${Math.round(observed[kind])} ms, above ${Math.round(bound)} ms`] : []
  })

/** Whether one of the victim's p99 is above its bound. @param baseline without attacks. */
export const isTooSlow = (observed: Times, baseline: Times): boolean => slowOf(observed, baseline).length > 0

/** One message per bound that was exceeded and per failed request of the victim. @param baseline without attacks. */
export const breachesOf = (observed: Observation, baseline: Times): string[] => {
  const failures = Object.entries(Object.groupBy(observed.failures, (failure) => failure))
  return [
    ...failures.map(([failure, all]) => `${all!.length} of ${observed.requests} requests failed: ${failure}`),
    ...slowOf(observed, baseline),
    ...Object.entries(observed.usage).flatMap(([name, { peakMiB, longestTaskMs }]) => [
      ...(peakMiB > memoryBound ? [`${name} had ${Math.round(peakMiB)} MiB, above ${memoryBound}`] : []),
      ...(longestTaskMs > taskBound
        ? [`${name} had a task of ${Math.round(longestTaskMs)} ms, above ${taskBound}`]
        : []),
    ]),
  ]
}

/**
 * Whether the outcome of an attacker's request is a success or an error with a reason, not a broken connection. A client
 * that gets too little CPU time to send its request gets a 408, which has no body.
 */
export const isProperOutcome = (outcome: string): boolean =>
  outcome === aborted ||
  outcome === closedByService ||
  outcome === '408 without a reason' ||
  /^(2\d\d|(4\d\d|503) (?!without)\w+)$/.test(outcome)
