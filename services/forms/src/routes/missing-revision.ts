import type { ApiError } from '@fms/aip'
import { type FormRef, type FormsStore, formNotFound } from '@fms/forms-store'
import { revisionNotFound } from '../errors.ts'

/** The error of a read that has found no revision: FORM_NOT_FOUND or REVISION_NOT_FOUND. */
export const missingRevision = async (
  forms: FormsStore,
  ref: FormRef,
  revisionRef: string,
): Promise<ApiError> => ((await forms.getState(ref)) ? revisionNotFound(ref, revisionRef) : formNotFound(ref))
