import type { Form } from '@fms/contracts'
import { newFormRecord } from './form-record.ts'

/** A form as the API returns it. */
export const newApiForm = (changes: Partial<Form> = {}): Form => {
  const { organizationId, formId, publicId, draft, createTime, updateTime } = newFormRecord()
  return {
    ...draft,
    path: `organizations/${organizationId}/forms/${formId}`,
    publicId,
    publicUrl: `https://forms.example.com/f/${publicId}`,
    createTime,
    updateTime,
    replyCount: 0,
    live: false,
    ...changes,
  }
}
