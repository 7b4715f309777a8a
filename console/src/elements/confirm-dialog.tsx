import { isReason } from '@fms/client'
import type { ComponentChildren } from 'preact'
import { ReadAgain } from '../reading/read-again.tsx'
import { texts } from '../texts.ts'
import { useAction } from './action.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { ErrorNotice } from './error-notice.tsx'
import type { Title } from './title.tsx'

/** Asks before an action that is hard to take back, runs it, and shows its error. */
export const ConfirmDialog = ({
  title,
  confirm,
  onConfirm,
  onClose,
  readAgain,
  children,
}: {
  title: Title
  /** The label of the button. */
  confirm: string
  onConfirm: () => Promise<void>
  onClose: () => void
  /** Reads the new state of the form, if somebody else has changed it. */
  readAgain?: () => Promise<void>
  children: ComponentChildren
}) => {
  const { error, isRunning, run } = useAction()
  const confirmed = () =>
    run(async () => {
      await onConfirm()
      onClose()
    })
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <ErrorNotice error={error.value} />
      {readAgain && isReason(error.value, 'FORM_MOVED') && <ReadAgain read={readAgain} />}
      <footer>
        <Button class="danger" aria-disabled={isRunning.value} onClick={confirmed}>
          {confirm}
        </Button>
        <Button onClick={onClose}>{texts.cancel}</Button>
      </footer>
    </Dialog>
  )
}
