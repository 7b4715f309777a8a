import { isReason } from '@fms/client'
import { useSignal, useSignalEffect } from '@preact/signals'
import { useAction } from '../elements/action.ts'
import { isRetryable } from '../session/entry.ts'
import { useRetry } from '../session/retry.ts'
import { texts } from '../texts.ts'
import type { FormEdit } from './edits/form-edit.ts'

/** Whether a save that failed may succeed later. */
export const isSavedLater = (error: unknown): boolean =>
  isRetryable(error) && !isReason(error, 'QUOTA_EXCEEDED', 'INTERNAL')

/** Saves an edit, and repeats what failed for want of a connection as soon as that is back. */
export const useSave = (edit: FormEdit) => {
  const { error, isRunning, run, clearError } = useAction()
  const isSaved = useSignal(false)
  const save = async () => {
    if (!edit.isDirty.peek() || !edit.isValid.peek()) return
    await run(async () => {
      isSaved.value = false
      await edit.save()
      isSaved.value = edit.conflict.value === undefined
    })
  }
  // With the next input, the cause of an error is gone, unless it is the connection.
  useSignalEffect(() => {
    edit.history.current.value
    if (!isSavedLater(error.peek()) || !edit.isDirty.peek()) clearError()
  })
  useRetry(
    () => (!isRunning.value && edit.isValid.value && isSavedLater(error.value) ? error.value : undefined),
    save,
  )
  const status = (): string => {
    if (isRunning.value) return texts.edit.saving
    if (edit.isDirty.value) return texts.edit.unsaved
    return isSaved.value ? texts.edit.saved : ''
  }
  return { save, error, isRunning, status }
}
