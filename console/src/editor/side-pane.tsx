import { computed, type Signal, signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { asForm } from '../preview/as-form.ts'
import { Walk } from '../preview/walk.tsx'
import { texts } from '../texts.ts'
import type { FormEdit } from './edits/form-edit.ts'
import { LazyJsonEditor } from './lazy-json-editor.tsx'

const storageKey = 'fms-console-json'

/** Whether the JSON editor takes the place of the preview. This browser remembers it. */
const showsJson = signal(localStorage.getItem(storageKey) !== null)

const chooseJson = (isChosen: boolean) => {
  showsJson.value = isChosen
  if (isChosen) localStorage.setItem(storageKey, '')
  else localStorage.removeItem(storageKey)
}

/** What is beside the fields: the preview, or the form as JSON, which also opens while its text is not complete. */
export const SidePane = ({
  edit,
  openStep,
  isReadOnly,
}: {
  edit: FormEdit
  openStep: Signal<number | undefined>
  isReadOnly: boolean
}) => {
  const form = useMemo(() => computed(() => asForm(edit.toSave.value)), [edit])
  return (
    <aside class="side" aria-label={texts.edit.side}>
      <label class="switch">
        <input
          type="checkbox"
          checked={showsJson.value}
          onChange={({ currentTarget }) => chooseJson(currentTarget.checked)}
        />{' '}
        {texts.edit.showJson}
      </label>
      {showsJson.value || !edit.isValid.value ? (
        <LazyJsonEditor
          text={edit.text}
          remarks={edit.remarks}
          isReadOnly={isReadOnly}
          onInput={(text) => edit.changeText(text)}
        />
      ) : (
        <Walk form={form.value} openStep={openStep.value} />
      )}
    </aside>
  )
}
