import { useSignal } from '@preact/signals'
import { ConfirmDialog } from '../elements/confirm-dialog.tsx'
import { goTo } from '../routing/navigation.ts'
import { texts } from '../texts.ts'
import type { FormEdit } from './form-edit.ts'

/** The button that deletes a form, and its question. */
export const DeleteForm = ({ edit, organization }: { edit: FormEdit; organization: string }) => {
  const isAsking = useSignal(false)
  const remove = async () => {
    await edit.delete()
    goTo({ page: 'forms', organization })
  }
  return (
    <>
      <button
        type="button"
        class="danger"
        onClick={() => {
          isAsking.value = true
        }}
      >
        {texts.delete.delete}
      </button>
      {isAsking.value && (
        <ConfirmDialog
          title={texts.delete.title}
          confirm={texts.delete.delete}
          onConfirm={remove}
          onClose={() => {
            isAsking.value = false
          }}
        >
          <p>{texts.delete.explanation}</p>
        </ConfirmDialog>
      )}
    </>
  )
}
