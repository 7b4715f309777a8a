import { randomUUID } from 'node:crypto'
import { FormDraft, type FormRecord } from '@fms/contracts'
import { makePublicId, openFormsStore } from '@fms/forms-store'
import { type SampleForm, sampleFormRecord } from '@fms/testkit/sample-form-record'

/** Number of forms and replies of the attacked organization. */
export interface SeedSizes {
  /** Forms of 1 KB whose names make wildcards backtrack. */
  smallForms: number
  /** Replies of each form that is deleted. */
  replies: number
  /** Number of forms with that many replies. Each is deleted once. */
  repliedForms: number
  /** Forms of 700 KB. 24 by default. */
  bigForms?: number
  /** Deleted forms that can be restored. 1,000 by default. */
  deletedForms?: number
  /** Revisions of the revised form. 40 by default. */
  revisions?: number
}

/** Public ids of the forms that attacks use. */
export interface SeededForms {
  /** A form of 440 KB with 40 revisions. */
  revisedForm: string
  /** A form of 440 KB. */
  largeForm: string
  /** Forms of 700 KB. */
  bigForms: string[]
  repliedForms: string[]
}

/** Concurrent imports. */
const batchSize = 256

/** Fills the organization directly in the store. */
export const seedOrganization = async (
  url: string,
  organizationId: string,
  sizes: SeedSizes,
): Promise<SeededForms> => {
  const { bigForms: bigCount = 24, deletedForms = 1_000, revisions = 40 } = sizes
  await using store = await openFormsStore(url)
  const put = async (
    draft: FormDraft,
    counts: Pick<SampleForm, 'revisions' | 'replies'> = {},
    state: Pick<FormRecord, 'deletion'> = {},
  ) => {
    const [formId, publicId] = [randomUUID(), makePublicId()]
    const createTime = new Date(++time).toISOString()
    const form = sampleFormRecord({ organizationId, formId, publicId, draft, time: createTime, ...counts })
    await store.importForm({ ...form, ...state })
    return publicId
  }
  const putMany = async (count: number, state?: Pick<FormRecord, 'deletion'>) => {
    for (let from = 0; from < count; from += batchSize) {
      const numbers = Array.from({ length: Math.min(batchSize, count - from) }, (_, index) => from + index)
      await Promise.all(numbers.map((number) => put(smallDraft(number), {}, state)))
    }
  }
  await putMany(sizes.smallForms)
  await putMany(deletedForms, { deletion })
  const steps = largeDraft('Large', 440_000)
  const revisedForm = await put(steps, { revisions })
  const largeForm = await put(steps)
  const repliedForms: string[] = []
  for (let number = 0; number < sizes.repliedForms; number++)
    repliedForms.push(await put(smallDraft(number), { replies: sizes.replies }))
  // Imported last: the default order lists the most recently updated forms first.
  const big = largeDraft('Big', 700_000)
  const bigForms: string[] = []
  for (let number = 0; number < bigCount; number++) bigForms.push(await put(big))
  return { revisedForm, largeForm, bigForms, repliedForms }
}

/** Of the deleted forms, which can be restored. */
const deletion = {
  deleteTime: new Date().toISOString(),
  purgeTime: new Date(Date.now() + 86_400_000).toISOString(),
  deleter: '',
}

/** Time of the last imported form. */
let time = Date.UTC(2026, 0, 1)

const emptyDraft = FormDraft.parse({})

const smallDraft = (number: number): FormDraft => ({ ...emptyDraft, name: `${'a'.repeat(190)}${number}` })

/** A draft of about `bytes` bytes of realistic steps, which are the most expensive part to validate. */
export const largeDraft = (name: string, bytes: number): FormDraft => {
  const count = Math.min(999, Math.floor(bytes / 440))
  const padding = 'x'.repeat(Math.floor(bytes / count) - 300)
  const steps = Array.from({ length: count }, (_, index) => ({
    type: 'rating',
    key: `question-${index}`,
    title: `How satisfied are you with part ${index} of our service?`,
    description: padding,
    options: [
      { key: 'a', value: 1 },
      { key: 'b', value: 2 },
      { key: 'c', value: 3 },
    ],
  }))
  return FormDraft.parse({ name, steps })
}
