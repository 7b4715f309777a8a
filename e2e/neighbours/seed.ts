import { randomUUID } from 'node:crypto'
import { type Form, FormDraft, formPath } from '@fms/contracts'
import { type FormsStore, makePublicId, openFormsStore } from '@fms/forms-store'

/** How much the attacked organization holds. */
export interface Sizes {
  /** Forms of 1 KB with names on which wildcards backtrack. */
  smallForms: number
  /** Replies of one form that is deleted. */
  replies: number
  /** Forms with that many replies: each is deleted once. */
  repliedForms: number
}

/** What the attacks are about, by public id. */
export interface Seeds {
  /** 440 KB of steps, with 40 revisions. */
  revisedForm: string
  /** 440 KB of steps. */
  largeForm: string
  repliedForms: string[]
}

const bigForms = 24
const revisions = 40

/** Imports at once. */
const batch = 256

/** Fills the organization through the store, past the service. */
export const seed = async (url: string, organizationId: string, sizes: Sizes): Promise<Seeds> => {
  await using store = await openFormsStore(url)
  const put = (draft: FormDraft, more: Partial<Record_> = {}) =>
    importForm(store, organizationId, draft, more)
  for (let from = 0; from < sizes.smallForms; from += batch) {
    const numbers = Array.from(
      { length: Math.min(batch, sizes.smallForms - from) },
      (_, index) => from + index,
    )
    await Promise.all(numbers.map((number) => put(smallDraft(number))))
  }
  const steps = largeDraft('Large', 440_000)
  const revisedForm = await put(steps, { revisions })
  const largeForm = await put(steps)
  const repliedForms: string[] = []
  for (let number = 0; number < sizes.repliedForms; number++)
    repliedForms.push(await put(smallDraft(number), { replies: sizes.replies }))
  // The last ones lead the default order, most recently updated first.
  const big = largeDraft('Big', 700_000)
  for (let number = 0; number < bigForms; number++) await put(big)
  return { revisedForm, largeForm, repliedForms }
}

interface Record_ {
  revisions: number
  replies: number
}

let time = Date.UTC(2026, 0, 1)

const importForm = async (
  store: FormsStore,
  organizationId: string,
  draft: FormDraft,
  { revisions = 0, replies = 0 }: Partial<Record_>,
): Promise<string> => {
  const [formId, publicId] = [randomUUID(), makePublicId()]
  const createTime = new Date(++time).toISOString()
  const form = {
    ...draft,
    path: formPath({ organizationId, formId }),
    publicId,
    publicUrl: `http://127.0.0.1:8080/f/${publicId}`,
    createTime,
    updateTime: createTime,
    live: true,
    replyCount: 0,
  } as Form
  const published = Array.from({ length: revisions }, (_, index) => ({
    revisionId: randomUUID(),
    number: index + 1,
    commandId: randomUUID(),
    createTime,
    form,
  }))
  const live = published.at(-1)
  await store.importForm({
    organizationId,
    formId,
    publicId,
    createTime,
    updateTime: createTime,
    version: 1,
    draft,
    revisionNumber: revisions,
    live: live ? { revisionId: live.revisionId, number: live.number } : null,
    revisions: published,
    replyCount: replies,
    replyIds: Array.from({ length: replies }, () => randomUUID()),
  })
  return publicId
}

const emptyDraft = FormDraft.parse({})

const smallDraft = (number: number): FormDraft => ({ ...emptyDraft, name: `${'a'.repeat(190)}${number}` })

/** Steps as makers write them, as many as the size takes: what costs the most to check. */
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
