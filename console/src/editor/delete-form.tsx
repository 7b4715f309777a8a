import { isReason } from '@fms/client'
import { useSignal } from '@preact/signals'
import { ConfirmDialog } from '../elements/confirm-dialog.tsx'
import { ErrorNotice } from '../elements/error-notice.tsx'
import { useAction } from '../elements/load.ts'
import { goTo } from '../routing/navigation.ts'
import { texts } from '../texts.ts'
import type { FormEdit } from './form-edit.ts'

/** The button that deletes a form, and its question. */
export const DeleteForm = ({ edit, organization }: { edit: FormEdit; organization: string }) => {
  const isAsking = useSignal(false)
  const isMoved = useSignal(false)
  const ask = (isOpen: boolean) => {
    isAsking.value = isOpen
    isMoved.value = false
  }
  const remove = async () => {
    try {
      await edit.delete()
    } catch (error) {
      isMoved.value = isReason(error, 'FORM_MOVED')
      throw error
    }
    goTo({ page: 'forms', organization })
  }
  return (
    <>
      <button type="button" class="danger" onClick={() => ask(true)}>
        {texts.delete.delete}
      </button>
      {isAsking.value && (
        <ConfirmDialog
          title={texts.delete.title}
          confirm={texts.delete.delete}
          onConfirm={remove}
          onClose={() => ask(false)}
        >
          <p>{texts.delete.explanation}</p>
          {isMoved.value && <ReadAgain edit={edit} onDone={() => ask(false)} />}
        </ConfirmDialog>
      )}
    </>
  )
}

/** The way on after somebody else changed the form: its new state, or a conflict with the edit. */
const ReadAgain = ({ edit, onDone }: { edit: FormEdit; onDone: () => void }) => {
  const { error, isRunning, run } = useAction()
  const read = () =>
    run(async () => {
      await edit.readAgain()
      onDone()
    })
  return (
    <>
      <ErrorNotice error={error.value} />
      <button type="button" aria-disabled={isRunning.value} onClick={read}>
        {texts.delete.readAgain}
      </button>
    </>
  )
}
