import type { Branch, Condition, JsonValue } from '@fms/client'
import { Button } from '../../elements/button.tsx'
import { asList, asObject, asText, type JsonObject } from '../../json/values.ts'
import { asBranch } from '../../preview/as-form.ts'
import type { Choice } from '../../preview/shown-step.ts'
import { texts } from '../../texts.ts'
import { Choices, ConditionFields } from './condition-fields.tsx'
import { asQuestion } from './question.ts'
import { nameOfStep } from './step-name.ts'

/** The branches of a step, each as a sentence: If … is …, go to …, or Always go to …. */
export const BranchesField = ({
  step,
  steps,
  disabled,
  onChange,
}: {
  step: JsonObject
  steps: readonly JsonValue[]
  disabled: boolean
  onChange: (branches: JsonValue[] | undefined) => void
}) => {
  const branches = asList(step.branches).map(asObject).map(asBranch)
  const choices = steps
    .map(asObject)
    .map((each): Choice => ({ value: asText(each.key), label: nameOfStep(each) }))
  const index = steps.findIndex((each) => asObject(each).key === step.key)
  // Only answers that are there already can be compared.
  const answered = choices.filter(
    (_, at) => at <= index && !['start', 'end', 'statement'].includes(asText(asObject(steps[at]).type)),
  )
  const set = (next: Branch[]) => onChange(next.length > 0 ? (next as unknown as JsonValue[]) : undefined)
  const replace = (at: number, branch: Branch) => set(branches.with(at, branch))
  const remove = (at: number) => set(branches.toSpliced(at, 1))
  const questionOf = (key: string) => asQuestion(asObject(steps.find((each) => asObject(each).key === key)))
  const newCondition = (): Condition => {
    const stepKey = answered.at(-1)?.value ?? ''
    return { stepKey, operator: questionOf(stepKey).operators[0]!, value: '', negate: false }
  }
  /** Adds a branch before one that always holds: the first that holds counts. */
  const add = (group: Condition[]) => {
    const { value: targetStepKey } = choices[index + 2] ?? choices[index + 1] ?? choices[0]!
    const place = branches.findIndex(isAlways)
    set(branches.toSpliced(place === -1 ? branches.length : place, 0, { targetStepKey, groups: [group] }))
  }
  return (
    <fieldset class="branches" disabled={disabled}>
      <legend>{texts.branches.title}</legend>
      {branches.map((branch, at) => (
        <fieldset key={at} class="branch" aria-label={texts.branches.name(at + 1)}>
          {isConditional(branch) &&
            branch.groups.map((group, groupAt) =>
              group.map((condition, conditionAt) => (
                <ConditionFields
                  key={`${groupAt} ${conditionAt}`}
                  lead={
                    conditionAt > 0 ? texts.branches.and : groupAt > 0 ? texts.branches.or : texts.branches.if
                  }
                  condition={condition}
                  questions={answered}
                  questionOf={questionOf}
                  onChange={(next) => {
                    const groups = withCondition(branch.groups, groupAt, conditionAt, next)
                    if (groups.length > 0) replace(at, { ...branch, groups })
                    else remove(at)
                  }}
                />
              )),
            )}
          <span class="sentence">
            {isConditional(branch)
              ? texts.branches.goTo
              : isAlways(branch)
                ? texts.branches.alwaysGoTo
                : texts.branches.neverGoTo}
            <Choices
              label={texts.branches.target}
              value={branch.targetStepKey}
              choices={choices.filter(({ value }) => value !== step.key)}
              onInput={(targetStepKey) => replace(at, { ...branch, targetStepKey })}
            />
          </span>
          <span>
            {isConditional(branch) ? (
              <>
                <Button
                  class="quiet"
                  onClick={() =>
                    replace(at, {
                      ...branch,
                      groups: [...branch.groups.slice(0, -1), [...branch.groups.at(-1)!, newCondition()]],
                    })
                  }
                >
                  {texts.branches.addAnd}
                </Button>
                <Button
                  class="quiet"
                  onClick={() => replace(at, { ...branch, groups: [...branch.groups, [newCondition()]] })}
                >
                  {texts.branches.addOr}
                </Button>
              </>
            ) : (
              answered.length > 0 && (
                <Button class="quiet" onClick={() => replace(at, { ...branch, groups: [[newCondition()]] })}>
                  {texts.branches.addIf}
                </Button>
              )
            )}
            <Button class="quiet" aria-label={texts.branches.remove(at + 1)} onClick={() => remove(at)}>
              ×
            </Button>
          </span>
        </fieldset>
      ))}
      <Button
        class="quiet"
        onClick={() => add([newCondition()])}
        disabled={choices.length < 2 || answered.length === 0}
      >
        {texts.branches.add}
      </Button>
      <Button class="quiet" onClick={() => add([])} disabled={choices.length < 2 || branches.some(isAlways)}>
        {texts.branches.addAlways}
      </Button>
    </fieldset>
  )
}

const isAlways = ({ groups }: Branch): boolean => groups.some((group) => group.length === 0)

const isConditional = (branch: Branch): boolean => branch.groups.length > 0 && !isAlways(branch)

/** @param condition undefined removes it, and a group that has no other one */
const withCondition = (
  groups: Condition[][],
  groupAt: number,
  conditionAt: number,
  condition: Condition | undefined,
): Condition[][] => {
  const group = groups[groupAt]!
  const next = condition ? group.with(conditionAt, condition) : group.toSpliced(conditionAt, 1)
  return next.length > 0 ? groups.with(groupAt, next) : groups.toSpliced(groupAt, 1)
}
