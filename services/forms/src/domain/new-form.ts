import { randomInt, randomUUID } from 'node:crypto'
import type { FormDraft } from '@fms/contracts'
import type { StoredForm } from '@fms/forms-store'

const publicIdAlphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const publicIdLength = 10

/** 10 random letters and digits. Over 8 × 10^17 of them: a repeat is rare, and the store refuses it. */
export const makePublicId = (): string =>
  Array.from({ length: publicIdLength }, () => publicIdAlphabet[randomInt(publicIdAlphabet.length)]).join('')

/** What a dry run shows in place of ids that cannot be known yet (AIP-163). */
export const unknownIds = { formId: '00000000-0000-0000-0000-000000000000', publicId: '' }

/** A form in its first state, a draft that nobody sees. */
export const newForm = (
  organizationId: string,
  draft: FormDraft,
  now: Date,
  ids = { formId: randomUUID() as string, publicId: makePublicId() },
): StoredForm => ({
  organizationId,
  ...ids,
  createTime: now,
  updateTime: now,
  version: 1,
  replyCount: 0,
  live: false,
  draft,
})
