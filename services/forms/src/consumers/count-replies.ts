import type { ReplyRecorded } from '@fms/contracts'
import { type FormsStore, maxRepliesPerChange } from '@fms/forms-store'

/** A reply that waits to be counted. */
interface Waiting {
  replyId: string
  resolve(): void
  reject(error: unknown): void
}

/**
 * Counts replies, those of one form in one change of the form: while it runs, later ones gather for the next. Forms do
 * not wait for one another.
 *
 * @returns resolves once the reply's change is durable; rejects as `recordReplies` does.
 */
export const createReplyCounter = (forms: FormsStore): ((reply: ReplyRecorded) => Promise<void>) => {
  const waitingByForm = new Map<string, Waiting[]>()

  const countAll = async (key: string, form: Omit<ReplyRecorded, 'replyId'>, waiting: Waiting[]) => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, maxRepliesPerChange)
      try {
        await forms.recordReplies({ ...form, replyIds: batch.map(({ replyId }) => replyId) })
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    // In the same turn as the look at `waiting`, so that no reply is pushed in between.
    waitingByForm.delete(key)
  }

  return ({ replyId, organizationId, formId }) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const key = `${organizationId}/${formId}`
    const waiting = waitingByForm.get(key)
    if (waiting) waiting.push({ replyId, resolve, reject })
    else {
      const first = [{ replyId, resolve, reject }]
      waitingByForm.set(key, first)
      void countAll(key, { organizationId, formId }, first)
    }
    return promise
  }
}
