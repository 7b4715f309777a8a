import { didYouMean, suggestion } from '@fms/aip'
import { conditionOperators, type FormDraft, type FormWarning } from '@fms/contracts'
import { createValueCheck } from './value-warnings.ts'
import { shown, warning } from './warning.ts'

type Steps = FormDraft['steps']
type Branch = NonNullable<Steps[number]['branches']>[number]

/** A branch always holds if one of its groups has no condition. */
const alwaysHolds = ({ groups }: Branch) => groups.some((group) => group.length === 0)

/** What is wrong with the ways through the form: where branches lead, and what they leave out. */
export function* branchWarnings({ steps }: FormDraft): Iterable<FormWarning> {
  const indexOfKey = new Map(steps.map(({ key }, index) => [key, index]))
  yield* eachBranch(steps, indexOfKey)

  const followers = followersOf(steps, indexOfKey)
  const reached = reachableFrom(steps.length > 0 ? [0] : [], followers)
  for (const [index] of steps.entries()) {
    if (!reached.has(index)) {
      const message = 'cannot be reached: no branch and no step leads here'
      yield warning(['steps', index], 'STEP_UNREACHABLE', message)
    }
  }
  const lastSteps = followers.flatMap((next, index) =>
    next.length === 0 || next.includes(end) ? [index] : [],
  )
  const leaving = reachableFrom(lastSteps, reversed(followers))
  for (const index of reached) {
    if (leaving.has(index)) continue
    const branches = steps[index]!.branches ?? []
    const branch = branches.findIndex(alwaysHolds)
    if (branch < 0) continue
    const path = ['steps', index, 'branches', branch, 'targetStepKey']
    const message = 'leads back for ever: no way from there leads to the end of the form'
    yield warning(path, 'BRANCH_ENDLESS', message)
  }
}

/** Keys that are compared with a misspelt one. */
const maxCandidates = 100

const operators = Object.keys(conditionOperators)

function* eachBranch(steps: Steps, indexOfKey: ReadonlyMap<string, number>): Iterable<FormWarning> {
  const valueWarnings = createValueCheck(steps)
  for (const [index, { branches = [] }] of steps.entries()) {
    for (const [branchIndex, { targetStepKey, groups }] of branches.entries()) {
      const path = ['steps', index, 'branches', branchIndex]
      if (!indexOfKey.has(targetStepKey)) {
        const message = `${shown(targetStepKey)} is not the key of a step${suggestion(didYouMean(targetStepKey, indexOfKey.keys().take(maxCandidates)))}`
        yield warning([...path, 'targetStepKey'], 'BRANCH_TARGET_MISSING', message)
      }
      if (groups.length === 0) {
        const message = 'is empty, so that the branch never holds; one that always holds has the groups [[]]'
        yield warning([...path, 'groups'], 'MEMBER_MISSING', message)
      }
      for (const [groupIndex, group] of groups.entries()) {
        for (const [conditionIndex, condition] of group.entries()) {
          const at = [...path, 'groups', groupIndex, conditionIndex]
          yield* valueWarnings(condition, at)
          const { operator } = condition
          if (Object.hasOwn(conditionOperators, operator)) continue
          const message = `${shown(operator)} is not in the catalogue${suggestion(didYouMean(operator, operators))}`
          yield warning([...at, 'operator'], 'OPERATOR_UNKNOWN', message)
        }
      }
    }
  }
}

/** Stands for the end of the form among followers. */
const end = -1

/** By step, the indexes of the steps that may come next; {@link end} where the form may be over. */
const followersOf = (steps: Steps, indexOfKey: ReadonlyMap<string, number>): number[][] =>
  steps.map(({ type, branches = [] }, index) => {
    const next: number[] = []
    for (const branch of branches) {
      if (branch.groups.length === 0) continue
      next.push(indexOfKey.get(branch.targetStepKey) ?? end)
      if (alwaysHolds(branch)) return next
    }
    return [...next, type === 'end' || index === steps.length - 1 ? end : index + 1]
  })

const reversed = (followers: readonly number[][]): number[][] => {
  const preceding: number[][] = followers.map(() => [])
  for (const [index, next] of followers.entries()) {
    for (const follower of next) if (follower !== end) preceding[follower]!.push(index)
  }
  return preceding
}

const reachableFrom = (first: readonly number[], followers: readonly number[][]): Set<number> => {
  const reached = new Set(first)
  // A set yields what is added while it is read.
  for (const index of reached) {
    for (const next of followers[index]!) if (next !== end) reached.add(next)
  }
  return reached
}
