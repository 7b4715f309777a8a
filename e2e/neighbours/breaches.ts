import { aborted, closedByService } from './attacks.ts'
import type { Observation } from './start-neighbourhood.ts'

/** Bound of the memory of a service, in MiB. */
const memoryBound = 400

/**
 * Bound of a synchronous task of a service, in milliseconds of CPU time: 50 for the largest valid form, 10 for the
 * precision of the metric, the rest for garbage collection and for event-loop iterations that serve many requests.
 */
const taskBound = 100

type Times = Pick<Observation, 'p99' | 'patchP99' | 'publishP99'>

/** Bounds of the victim's p99 in milliseconds, unless a multiple of that without attacks is more. */
interface Bounds extends Times {
  multiple: number
}

/** The bounds that the product promises on two cores without other load. */
export const promisedBounds: Bounds = { multiple: 5, p99: 150, patchP99: 400, publishP99: 800 }

/** The bounds of `npm test`, which shares its machine with other programs. */
export const sharedMachineBounds: Bounds = { ...promisedBounds, multiple: 10, p99: 250 }

/** The kinds of the victim's requests that are slower than their bounds. @param baseline without attacks. */
const slowOf = (observed: Times, baseline: Times, { multiple, ...bounds }: Bounds): string[] =>
  (Object.keys(bounds) as (keyof Times)[]).flatMap((kind) => {
    const bound = Math.max(multiple * (Number.isFinite(baseline[kind]) ? baseline[kind] : 0), bounds[kind])
    const isSlow = Number.isFinite(observed[kind]) && observed[kind] > bound
    return isSlow ? [`${kind} is ${Math.round(observed[kind])} ms, above ${Math.round(bound)} ms`] : []
  })

/**
 * Whether one of the victim's p99 or the longest task of a service is above its bound. Other programs on the machine can cause
 * both: a task takes more CPU time when they displace its data from the caches.
 */
export const isTooSlow = (observed: Observation, baseline: Times, bounds: Bounds): boolean =>
  slowOf(observed, baseline, bounds).length > 0 ||
  Object.values(observed.usage).some(({ longestTaskMs }) => longestTaskMs > taskBound)

/** One message per bound that was exceeded and per failed request of the victim. @param baseline without attacks. */
export const breachesOf = (observed: Observation, baseline: Times, bounds: Bounds): string[] => {
  const failures = Object.entries(Object.groupBy(observed.failures, (failure) => failure))
  return [
    ...failures.map(([failure, all]) => `${all!.length} of ${observed.requests} requests failed: ${failure}`),
    ...slowOf(observed, baseline, bounds),
    ...Object.entries(observed.usage).flatMap(([name, { peakMiB, longestTaskMs }]) => [
      ...(peakMiB > memoryBound ? [`${name} had ${Math.round(peakMiB)} MiB, above ${memoryBound}`] : []),
      ...(longestTaskMs > taskBound
        ? [`${name} had a task of ${Math.round(longestTaskMs)} ms, above ${taskBound}`]
        : []),
    ]),
  ]
}

/**
 * Whether the outcome of an attacker's request is a success or an error with a reason, not a broken connection.
 */
export const isProperOutcome = (outcome: string): boolean =>
  outcome === aborted || outcome === closedByService || /^(2\d\d|(4\d\d|503) (?!without)\w+)$/.test(outcome)
