import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { Button } from '../elements/button.tsx'
import { ErrorNotice, messageOf } from '../elements/error-notice.tsx'
import { focusHeading, Page } from '../elements/page.tsx'
import { textOfTitle } from '../elements/title.tsx'
import { asList, asObject, asText } from '../json/values.ts'
import { asForm } from '../preview/as-form.ts'
import { wordsOfField } from '../publish/change-words.ts'
import { texts } from '../texts.ts'
import { ConflictDialog } from './conflict-dialog.tsx'
import { DeleteForm } from './delete-form.tsx'
import { useEditKeys } from './edit-keys.ts'
import type { FormEdit } from './edits/form-edit.ts'
import { FormFields } from './form-fields.tsx'
import { SidePane } from './side-pane.tsx'
import { isSavedLater, useSave } from './use-save.ts'

/** Fields on the left; on the right the form as respondents see it, or as JSON. */
export const Editor = ({
  edit,
  organization,
  mayWrite,
}: {
  edit: FormEdit
  organization: string
  mayWrite: boolean
}) => {
  const { save, error, isRunning, status } = useSave(edit)
  /** The index of the step whose fields are shown. */
  const openStep = useSignal<number | undefined>(undefined)
  const actions = useMemo(() => {
    const keys = () => asList(edit.fields.peek().steps).map((step) => asObject(step).key)
    /** Closes the open step if its place is now that of another one. */
    const go = (direction: 'undo' | 'redo') => {
      const before = keys()
      edit.history[direction]()
      const [after, open] = [keys(), openStep.peek() ?? -1]
      // While somebody types, two steps may have the same key.
      const isUnique = [before, after].every((each) => new Set(each).size === each.length)
      const isOther =
        isUnique &&
        after[open] !== before[open] &&
        (before.includes(after[open]) || after.includes(before[open]))
      if (after.length !== before.length || isOther) openStep.value = undefined
    }
    return { undo: () => go('undo'), redo: () => go('redo'), save }
  }, [edit])
  useEditKeys(mayWrite, actions)
  const { current } = edit.history
  // The focused element may be gone with what was undone.
  useEffect(() => {
    if (document.activeElement === document.body) focusHeading()
  }, [current.value])
  const isDirty = edit.isDirty.value
  const wordsOf = (field: string) => textOfTitle(wordsOfField(field, asForm(edit.fields.peek()).steps))
  /** The state after Discard. */
  const discarded = useSignal<typeof current.value | undefined>(undefined)
  const discard = () => {
    edit.discard()
    discarded.value = current.peek()
  }
  const notice = useRef<HTMLDivElement>(null)
  return (
    <Page
      title={{ text: (name) => name, name: asText(edit.fields.value.name) || texts.edit.title }}
      form={edit.base.value.form}
      isSticky
      actions={
        mayWrite && (
          <>
            <span class="save-state small">
              {error.value !== undefined && (
                <Button class="quiet" onClick={() => notice.current!.focus()}>
                  <span class="two-lines">{messageOf(error.value)}</span>
                </Button>
              )}
              <span role="status">
                {discarded.value === current.value
                  ? texts.edit.discarded
                  : error.value === undefined && status()}
              </span>
            </span>
            <Button
              class="sign"
              aria-label={texts.edit.undo}
              title={texts.edit.undo}
              aria-disabled={!edit.history.canUndo.value}
              onClick={actions.undo}
            >
              ↶
            </Button>
            <Button
              class="sign"
              aria-label={texts.edit.redo}
              title={texts.edit.redo}
              aria-disabled={!edit.history.canRedo.value}
              onClick={actions.redo}
            >
              ↷
            </Button>
            <Button aria-disabled={!isDirty || isRunning.value} onClick={discard}>
              {texts.edit.discard}
            </Button>
            <Button
              class="primary"
              aria-disabled={!isDirty || !edit.isValid.value || isRunning.value}
              onClick={save}
            >
              {texts.edit.save}
            </Button>
          </>
        )
      }
    >
      <div ref={notice} tabIndex={-1}>
        <ErrorNotice error={error.value} wordsOf={wordsOf} />
        {isSavedLater(error.value) && <p class="notice">{texts.edit.savedLater}</p>}
      </div>
      {!mayWrite && <p class="notice">{texts.readOnly}</p>}
      {isDirty && edit.beginning.value !== 'new' && (
        <p class="notice" role="status">
          {edit.beginning.value === 'restored' ? texts.edit.restored : texts.edit.restoredAndMoved}
        </p>
      )}
      {edit.otherTabs.areOpen.value && (
        <p class="notice" role="status">
          {texts.edit.otherTabs}
        </p>
      )}
      {!edit.isStored.value && <p class="notice">{texts.edit.notStored}</p>}
      {!edit.isValid.value && <p class="notice error">{texts.edit.invalidJson}</p>}
      <div class="editor">
        <div>
          <FormFields edit={edit} openStep={openStep} isReadOnly={!mayWrite} />
          {mayWrite && <DeleteForm edit={edit} organization={organization} />}
        </div>
        <SidePane edit={edit} openStep={openStep} isReadOnly={!mayWrite} />
      </div>
      {edit.conflict.value && <ConflictDialog edit={edit} conflict={edit.conflict.value} />}
    </Page>
  )
}
