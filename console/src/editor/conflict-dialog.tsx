import type { JsonValue } from '@fms/client'
import { useComputed, useSignal } from '@preact/signals'
import { Dialog } from '../elements/dialog.tsx'
import { shortened } from '../elements/shortened.ts'
import { patchBetween } from '../json/merge-patch.ts'
import { mergeChanges, type Side } from '../json/three-way-merge.ts'
import { texts } from '../texts.ts'
import { fieldsOf } from './fields-of-form.ts'
import type { Conflict, FormEdit } from './form-edit.ts'

/** Shows what somebody else changed meanwhile, and continues the edit with their state, mine, or both merged. */
export const ConflictDialog = ({ edit, conflict }: { edit: FormEdit; conflict: Conflict }) => {
  const sides = useSignal<ReadonlyMap<string, Side>>(new Map())
  const base = fieldsOf(edit.base.peek().form)
  const mine = edit.fields.peek()
  const theirs = fieldsOf(conflict.theirs.form)
  const merge = useComputed(() => mergeChanges(base, mine, theirs, (path) => sides.value.get(path) ?? 'mine'))
  const { conflicts, merged } = merge.value
  const close = () => {
    edit.conflict.value = undefined
  }
  return (
    <Dialog title={texts.conflict.title} onClose={close}>
      <p>{texts.conflict.explanation}</p>
      <div class="columns">
        <ChangedFields title={texts.conflict.theirChanges} names={Object.keys(patchBetween(base, theirs))} />
        <ChangedFields title={texts.conflict.myChanges} names={Object.keys(patchBetween(base, mine))} />
      </div>
      {conflicts.length > 0 && (
        <fieldset>
          <legend>{texts.conflict.bothChanged(conflicts.length)}</legend>
          {conflicts.map(({ path, mine, theirs }) => (
            <Choice
              key={path}
              path={path}
              mine={mine}
              theirs={theirs}
              side={sides.value.get(path) ?? 'mine'}
              onChoose={(side) => {
                sides.value = new Map(sides.value).set(path, side)
              }}
            />
          ))}
        </fieldset>
      )}
      <footer>
        <button type="button" class="primary" onClick={() => edit.resolve(merged)}>
          {texts.conflict.merge}
        </button>
        <button type="button" onClick={() => edit.resolve(mine)}>
          {texts.conflict.keep}
        </button>
        <button type="button" onClick={() => edit.resolve(theirs)}>
          {texts.conflict.take}
        </button>
      </footer>
    </Dialog>
  )
}

const ChangedFields = ({ title, names }: { title: string; names: string[] }) => (
  <section>
    <h3>{title}</h3>
    <ul>
      {names.map((name) => (
        <li key={name}>
          <code>{name}</code>
        </li>
      ))}
    </ul>
  </section>
)

const Choice = ({
  path,
  mine,
  theirs,
  side,
  onChoose,
}: {
  path: string
  mine: JsonValue | undefined
  theirs: JsonValue | undefined
  side: Side
  onChoose: (side: Side) => void
}) => (
  <div class="choice" role="radiogroup" aria-label={path}>
    <code>{path}</code>
    {(['mine', 'theirs'] as const).map((each) => (
      <label key={each}>
        <input type="radio" name={path} checked={side === each} onChange={() => onChoose(each)} />
        <span>
          {texts.conflict.sides[each]} <code>{shownValue(each === 'mine' ? mine : theirs)}</code>
        </span>
      </label>
    ))}
  </div>
)

const shownValue = (value: JsonValue | undefined): string =>
  value === undefined ? texts.conflict.absent : shortened(JSON.stringify(value))
