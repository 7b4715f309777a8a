// Entry point of a worker thread: the export that a task names is called. Input and output are text, which is cheap to send.
import { type JsonObject, parseShallowJson, type ShallowJson } from '@fms/aip'
import type { StoredDraft } from '@fms/forms-store'
import { lowerPriority } from '@fms/scheduling/lower-priority'
import { threadTask } from '@fms/scheduling/worker-threads'
import { checkJson, comparisonJson } from '../domain/comparison.ts'
import { restoreDraft } from '../domain/restore-draft.ts'
import { type ChangedDraft, newDraft, patchDraft } from '../domain/write-draft.ts'
import { digestParameters } from '../requests/digest-request.ts'

lowerPriority()

export const parse = threadTask((body: Uint8Array): ShallowJson => parseShallowJson(body))

export const compare = threadTask(comparisonJson)

export const check = threadTask((formJson: string): string => checkJson(JSON.parse(formJson)))

/** Digests a request whose parameter `form` is JSON text. */
export const digest = threadTask(
  ({ parameters, formJson }: { parameters: JsonObject; formJson: string }): string =>
    digestParameters({ ...parameters, form: JSON.parse(formJson) as JsonObject }),
)

export const create = threadTask((formJson: string): StoredDraft => newDraft(JSON.parse(formJson)))

export const patch = threadTask(
  ({ draftJson, patchJson }: { draftJson: string; patchJson: string }): ChangedDraft | undefined =>
    patchDraft(draftJson, JSON.parse(patchJson)),
)

export const restore = threadTask(
  ({ draftJson, snapshotJson }: { draftJson: string; snapshotJson: string }): ChangedDraft | undefined =>
    restoreDraft(draftJson, snapshotJson),
)
