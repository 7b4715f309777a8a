import type { FormChange } from '@fms/client'
import { TitleText } from '../elements/title.tsx'
import { texts } from '../texts.ts'
import { type ComparedSteps, isOfWholeStep, wordsOfChange } from './change-words.ts'
import { wordsOfValue } from './value-words.ts'

/** Most changes that are drawn. */
const maxShownChanges = 500

/** Changes of a form in words, breaking ones first. */
export const ChangeList = ({ changes, steps }: { changes: readonly FormChange[]; steps: ComparedSteps }) => {
  const sorted = [...changes].sort(
    (a, b) => Number(b.breaking !== undefined) - Number(a.breaking !== undefined),
  )
  return (
    <>
      <ul class="changes">
        {sorted.slice(0, maxShownChanges).map((change) => (
          <li key={`${change.kind} ${change.field}`} class={change.breaking && 'breaking'}>
            <TitleText title={wordsOfChange(change, steps)} />
            {change.breaking && <strong> {texts.changes.breaking[change.breaking]}</strong>}
            {!isOfWholeStep(change) && <Values change={change} steps={steps} />}
          </li>
        ))}
      </ul>
      {sorted.length > maxShownChanges && <p>{texts.changes.more(sorted.length - maxShownChanges)}</p>}
    </>
  )
}

const Values = ({ change: { before, after }, steps }: { change: FormChange; steps: ComparedSteps }) => {
  if (before === undefined && after === undefined) return null
  return (
    <div class="values">
      {before !== undefined && (
        <del>
          <span class="hidden">{texts.changes.before} </span>
          {wordsOfValue(before, steps.from)}
        </del>
      )}
      {after !== undefined && (
        <ins>
          <span class="hidden">{texts.changes.after} </span>
          {wordsOfValue(after, steps.to)}
        </ins>
      )}
    </div>
  )
}
