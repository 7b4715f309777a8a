import type { Client } from '@fms/client'
import { useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { useAction } from '../elements/action.ts'
import { ErrorNotice } from '../elements/error-notice.tsx'
import { useLoaded } from '../elements/load.ts'
import { LoadError } from '../elements/load-error.tsx'
import { Page } from '../elements/page.tsx'
import { asText } from '../json/values.ts'
import { session } from '../session/session.ts'
import { texts } from '../texts.ts'
import { ConflictDialog } from './conflict-dialog.tsx'
import { DeleteForm } from './delete-form.tsx'
import { FormEdit } from './edits/form-edit.ts'
import { OtherTabs } from './edits/other-tabs.ts'
import { ownEdits } from './edits/own-edits.ts'
import { FormFields } from './form-fields.tsx'
import { LazyJsonEditor } from './lazy-json-editor.tsx'

/** Edits a form: fields, and everything as JSON beside them. */
export const EditPage = ({
  client,
  organization,
  form,
  mayWrite,
}: {
  client: Client
  organization: string
  form: string
  mayWrite: boolean
}) => {
  const { loaded, reload } = useLoaded((signal) => client.forms.get(organization, form, { signal }))
  const { value, error } = loaded.value
  const edit = useMemo(() => {
    if (value === undefined) return undefined
    const otherTabs = new OtherTabs(session.peek()!.userPath, value.form.path)
    return new FormEdit(client, ownEdits(), otherTabs, value, mayWrite)
  }, [client, value, mayWrite])
  useEffect(() => () => edit?.dispose(), [edit])
  if (edit === undefined)
    return (
      <Page title={texts.edit.title}>
        <LoadError loaded={loaded.value} reload={reload} />
        {error === undefined && <p>{texts.loading}</p>}
      </Page>
    )
  return <Editor edit={edit} organization={organization} mayWrite={mayWrite} />
}

const Editor = ({
  edit,
  organization,
  mayWrite,
}: {
  edit: FormEdit
  organization: string
  mayWrite: boolean
}) => {
  const { error, isRunning, run, clearError } = useAction()
  const isSaved = useSignal(false)
  // The cause of an error is gone with the next input.
  useSignalEffect(() => {
    edit.text.value
    clearError()
  })
  const maySave = () => edit.isDirty.peek() && edit.isValid.peek()
  const save = () =>
    run(async () => {
      if (!maySave()) return
      isSaved.value = false
      await edit.save()
      isSaved.value = edit.conflict.value === undefined
    })
  useEffect(() => {
    const saveByKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key !== 's') return
      event.preventDefault()
      if (mayWrite) save()
    }
    addEventListener('keydown', saveByKey)
    return () => removeEventListener('keydown', saveByKey)
  }, [edit])

  const isDirty = edit.isDirty.value
  const status = () => {
    if (isRunning.value) return texts.edit.saving
    if (isDirty) return texts.edit.unsaved
    return isSaved.value ? texts.edit.saved : ''
  }
  return (
    <Page
      title={{ text: (name) => name, name: asText(edit.fields.value.name) || texts.edit.title }}
      actions={
        mayWrite && (
          <>
            <span role="status">{status()}</span>
            <button
              type="button"
              aria-disabled={!isDirty || isRunning.value}
              onClick={() => {
                if (!isRunning.peek()) edit.discard()
              }}
            >
              {texts.edit.discard}
            </button>
            <button
              type="button"
              class="primary"
              aria-disabled={!isDirty || !edit.isValid.value || isRunning.value}
              onClick={save}
            >
              {texts.edit.save}
            </button>
          </>
        )
      }
    >
      {!mayWrite && <p class="notice">{texts.readOnly}</p>}
      <Beginning edit={edit} />
      {edit.otherTabs.areOpen.value && (
        <p class="notice" role="status">
          {texts.edit.otherTabs}
        </p>
      )}
      {!edit.isStored.value && <p class="notice">{texts.edit.notStored}</p>}
      {!edit.isValid.value && <p class="notice error">{texts.edit.invalidJson}</p>}
      <ErrorNotice error={error.value} />
      <div class="editor">
        <div>
          <FormFields edit={edit} isReadOnly={!mayWrite} />
          {mayWrite && <DeleteForm edit={edit} organization={organization} />}
        </div>
        <LazyJsonEditor
          text={edit.text}
          violations={edit.violations}
          isReadOnly={!mayWrite}
          onInput={(text) => edit.changeText(text)}
        />
      </div>
      {edit.conflict.value && <ConflictDialog edit={edit} conflict={edit.conflict.value} />}
    </Page>
  )
}

const Beginning = ({ edit }: { edit: FormEdit }) => {
  const beginning = edit.beginning.value
  if (beginning === 'new') return null
  return (
    <p class="notice" role="status">
      {beginning === 'restored' ? texts.edit.restored : texts.edit.restoredAndMoved}
    </p>
  )
}
