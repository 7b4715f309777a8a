import type { JsonValue, Step } from '@fms/client'
import { useSignal } from '@preact/signals'
import { useId, useMemo } from 'preact/hooks'
import { Button } from '../elements/button.tsx'
import { Dialog } from '../elements/dialog.tsx'
import { type Title, TitleText, textOfTitle } from '../elements/title.tsx'
import { changesBetween } from '../json/changes-between.ts'
import { namesInField } from '../json/field-path.ts'
import { mergeChanges, type Side } from '../json/three-way-merge.ts'
import type { JsonObject } from '../json/values.ts'
import { asSteps } from '../preview/as-form.ts'
import { ChangeList } from '../publish/change-list.tsx'
import { wordsOfPath } from '../publish/change-words.ts'
import { wordsOfValue } from '../publish/value-words.ts'
import { texts } from '../texts.ts'
import { fieldsOf } from './edits/fields-of-form.ts'
import type { Conflict, FormEdit } from './edits/form-edit.ts'

/** Shows what somebody else, or the user in another tab, changed meanwhile, and continues the edit with their state, mine, or both merged. */
export const ConflictDialog = ({ edit, conflict }: { edit: FormEdit; conflict: Conflict }) => {
  const sides = useSignal<ReadonlyMap<string, Side>>(new Map())
  const states = useMemo(
    () => ({
      base: fieldsOf(edit.base.peek().form),
      mine: edit.fields.peek(),
      theirs: fieldsOf(conflict.theirs.form),
    }),
    [conflict],
  )
  const { base, mine, theirs } = states
  const { conflicts, merged } = useMemo(
    () => mergeChanges(base, mine, theirs, (path) => sides.value.get(path) ?? 'mine'),
    [states, sides.value],
  )
  const words = conflict.isOwn ? texts.conflict.ownTab : texts.conflict.somebody
  const [mineSteps, theirSteps] = [asSteps(mine.steps), asSteps(theirs.steps)]
  const discardsId = useId()
  const close = () => {
    edit.conflict.value = undefined
  }
  return (
    <Dialog title={words.title} onClose={close}>
      <p>{words.explanation}</p>
      <div class="columns">
        <Changes title={words.theirChanges} from={base} to={theirs} />
        <Changes title={words.myChanges} from={base} to={mine} />
      </div>
      {conflicts.length > 0 && (
        <fieldset>
          <legend>{words.bothChanged(conflicts.length)}</legend>
          {conflicts.map(({ path, mine, theirs }) => (
            <Choice
              key={path}
              path={path}
              place={placeOf(path, [mineSteps, theirSteps])}
              values={{ mine: wordsOrAbsent(mine, mineSteps), theirs: wordsOrAbsent(theirs, theirSteps) }}
              labels={words.sides}
              side={sides.value.get(path) ?? 'mine'}
              onChoose={(side) => {
                sides.value = new Map(sides.value).set(path, side)
              }}
            />
          ))}
        </fieldset>
      )}
      <footer>
        <Button class="primary" onClick={() => edit.resolve(merged)}>
          {texts.conflict.merge}
        </Button>
        <Button aria-describedby={discardsId} onClick={() => edit.resolve(mine)}>
          {words.keep}
        </Button>
        <Button aria-describedby={discardsId} onClick={() => edit.resolve(theirs)}>
          {words.take}
        </Button>
      </footer>
      <p id={discardsId} class="small">
        {words.discards}
      </p>
    </Dialog>
  )
}

const Changes = ({ title, from, to }: { title: string; from: JsonObject; to: JsonObject }) => {
  const changes = useMemo(() => changesBetween(from, to), [from, to])
  return (
    <section>
      <h3>{title}</h3>
      <ChangeList changes={changes} steps={{ from: asSteps(from.steps), to: asSteps(to.steps) }} />
    </section>
  )
}

/** @param path such as `steps[fee].title` */
const placeOf = (path: string, states: readonly (readonly Step[])[]): Title => {
  const names = namesInField(path)
  const ofStep = { steps: names[1], i18n: names[4] }[names[0]!]
  const step = states.flat().find(({ key }) => key === ofStep)
  return wordsOfPath(names, step)
}

const Choice = ({
  path,
  place,
  values,
  labels,
  side,
  onChoose,
}: {
  path: string
  /** The path in words. */
  place: Title
  values: Readonly<Record<Side, string>>
  labels: Readonly<Record<Side, string>>
  side: Side
  onChoose: (side: Side) => void
}) => (
  <div class="choice" role="radiogroup" aria-label={textOfTitle(place)}>
    <strong>
      <TitleText title={place} />
    </strong>
    {(['mine', 'theirs'] as const).map((each) => (
      <label key={each}>
        <input type="radio" name={path} checked={side === each} onChange={() => onChoose(each)} />
        <span>
          {labels[each]} <bdi>{values[each]}</bdi>
        </span>
      </label>
    ))}
  </div>
)

const wordsOrAbsent = (value: JsonValue | undefined, steps: readonly Step[]): string =>
  value === undefined ? texts.conflict.absent : wordsOfValue(value, steps)
