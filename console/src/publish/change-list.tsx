import type { FormChange } from '@fms/client'
import { shortened } from '../elements/shortened.ts'
import { texts } from '../texts.ts'
import { type ComparedSteps, stepNameOf } from './step-names.ts'

/** Most changes that are drawn. */
const maxShownChanges = 500

/** Changes of a form, breaking ones first. */
export const ChangeList = ({ changes, steps }: { changes: readonly FormChange[]; steps: ComparedSteps }) => {
  const sorted = [...changes].sort(
    (a, b) => Number(b.breaking !== undefined) - Number(a.breaking !== undefined),
  )
  return (
    <>
      <ul class="changes">
        {sorted.slice(0, maxShownChanges).map((change) => (
          <li key={`${change.kind} ${change.field}`} class={change.breaking && 'breaking'}>
            <span class="badge">{texts.changes.kinds[change.kind]}</span> <code>{change.field}</code>{' '}
            <StepName name={stepNameOf(change, steps)} />
            {change.breaking && <strong> {texts.changes.breaking[change.breaking]}</strong>}
            <Values change={change} />
          </li>
        ))}
      </ul>
      {sorted.length > maxShownChanges && <p>{texts.changes.more(sorted.length - maxShownChanges)}</p>}
    </>
  )
}

const StepName = ({ name }: { name: string | undefined }) => name && <bdi>{shortened(name)}</bdi>

const Values = ({ change: { before, after } }: { change: FormChange }) => {
  if (before === undefined && after === undefined) return null
  return (
    <div class="values">
      {before !== undefined && (
        <del>
          <span class="hidden">{texts.changes.before} </span>
          {shownValue(before)}
        </del>
      )}
      {after !== undefined && (
        <ins>
          <span class="hidden">{texts.changes.after} </span>
          {shownValue(after)}
        </ins>
      )}
    </div>
  )
}

const shownValue = (value: unknown): string =>
  shortened(typeof value === 'string' ? value : JSON.stringify(value))
