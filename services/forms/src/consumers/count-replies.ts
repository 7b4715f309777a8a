import type { ReplyRecorded } from '@fms/contracts'
import { type FormsStore, maxRepliesPerChange } from '@fms/forms-store'

interface PendingReply {
  replyId: string
  resolve(): void
  reject(error: unknown): void
}

/** Counts replies in batches, one per form at a time. @returns a function that resolves once its reply is stored. */
export const createReplyCounter = (forms: FormsStore): ((reply: ReplyRecorded) => Promise<void>) => {
  const pendingByForm = new Map<string, PendingReply[]>()

  const countPending = async (key: string, form: Omit<ReplyRecorded, 'replyId'>, pending: PendingReply[]) => {
    while (pending.length > 0) {
      const batch = pending.splice(0, maxRepliesPerChange)
      try {
        await forms.recordReplies({ ...form, replyIds: batch.map(({ replyId }) => replyId) })
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    // Synchronous with the check of `pending.length`: no reply can be pushed in between.
    pendingByForm.delete(key)
  }

  return ({ replyId, organizationId, formId }) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const key = `${organizationId}/${formId}`
    const pending = pendingByForm.get(key)
    if (pending) pending.push({ replyId, resolve, reject })
    else {
      const first = [{ replyId, resolve, reject }]
      pendingByForm.set(key, first)
      void countPending(key, { organizationId, formId }, first)
    }
    return promise
  }
}
