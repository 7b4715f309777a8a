import { fieldPath } from '@fms/aip'
import type { FormWarning, WarningReason } from '@fms/contracts'

export const warning = (
  path: readonly PropertyKey[],
  reason: WarningReason,
  message: string,
): FormWarning => ({
  field: fieldPath(['form', ...path]),
  reason,
  message,
})

const maxShown = 64

/** A text of the form for a message, cut off after 64 characters. */
export const shown = (text: string): string =>
  JSON.stringify(text.length > maxShown ? `${text.slice(0, maxShown).toWellFormed()}…` : text)
