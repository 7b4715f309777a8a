import { useSignal } from '@preact/signals'
import { Button } from '../elements/button.tsx'
import { ConfirmDialog } from '../elements/confirm-dialog.tsx'
import { goTo } from '../routing/navigation.ts'
import { texts } from '../texts.ts'
import type { FormEdit } from './edits/form-edit.ts'

/** The button that deletes a form, and its question. */
export const DeleteForm = ({ edit, organization }: { edit: FormEdit; organization: string }) => {
  const isAsking = useSignal(false)
  const ask = (isOpen: boolean) => {
    isAsking.value = isOpen
  }
  const remove = async () => {
    await edit.delete()
    goTo({ page: 'forms', organization })
  }
  /** Leaves the new state of the form, or a conflict with the edit. */
  const readAgain = async () => {
    await edit.readAgain()
    ask(false)
  }
  return (
    <>
      <Button class="danger" onClick={() => ask(true)}>
        {texts.delete.delete}
      </Button>
      {isAsking.value && (
        <ConfirmDialog
          title={texts.delete.title}
          confirm={texts.delete.delete}
          onConfirm={remove}
          onClose={() => ask(false)}
          readAgain={readAgain}
        >
          <p>{texts.delete.explanation}</p>
        </ConfirmDialog>
      )}
    </>
  )
}
