import type { JsonObject } from '@fms/aip'
import type { StoredDraft } from '@fms/forms-store'
import type { Flow } from '@fms/scheduling'
import { WorkerThreads } from '@fms/scheduling/worker-threads'
import type { FastifyRequest } from 'fastify'
import { type Comparison, checkJson, comparisonJson } from '../domain/comparison.ts'
import { restoreDraft } from '../domain/restore-draft.ts'
import { type ChangedDraft, newDraft, patchDraft } from '../domain/write-draft.ts'

/** A JSON object: parsed where it is small, and as text where it is large. */
export type Patch = JsonObject | string

/** The `form` member of a create or update request: JSON text if the body is large, otherwise parsed. */
export const draftPatch = ({
  body,
  nestedJson,
}: Pick<FastifyRequest, 'nestedJson'> & { body: { form: Record<string, unknown> } }): Patch =>
  nestedJson?.get('form') ?? (body.form as JsonObject)

/** Computes, checks and compares drafts: small ones here, large ones, which take up to 400 ms, in worker threads. */
export class DraftWriter extends WorkerThreads<typeof import('./draft-worker.ts')> {
  readonly #inlineLimit: number

  /** @param inlineLimit patches and drafts of more characters than this run in threads. */
  constructor(inlineLimit: number, maxThreads?: number) {
    super(new URL('./draft-worker.ts', import.meta.url), { maxThreads })
    this.#inlineLimit = inlineLimit
  }

  async create(form: Patch, flow: Flow): Promise<StoredDraft> {
    return typeof form === 'string' ? this.run('create', form, flow) : newDraft(form)
  }

  async patch(draftJson: string, patch: Patch, flow: Flow): Promise<ChangedDraft | undefined> {
    if (typeof patch !== 'string' && !this.#isLarge(draftJson)) return patchDraft(draftJson, patch)
    const patchJson = typeof patch === 'string' ? patch : JSON.stringify(patch)
    return this.run('patch', { draftJson, patchJson }, flow)
  }

  async restore(draftJson: string, snapshotJson: string, flow: Flow): Promise<ChangedDraft | undefined> {
    if (!this.#isLarge(draftJson) && !this.#isLarge(snapshotJson))
      return restoreDraft(draftJson, snapshotJson)
    return this.run('restore', { draftJson, snapshotJson }, flow)
  }

  /** The comparison of two states of a form as JSON, at most 5 MiB. */
  async compare(comparison: Comparison, flow: Flow): Promise<string> {
    const isLarge = this.#isLarge(comparison.fromJson + comparison.toJson)
    return isLarge ? this.run('compare', comparison, flow) : comparisonJson(comparison)
  }

  async check(form: Patch, flow: Flow): Promise<string> {
    return typeof form === 'string' ? this.run('check', form, flow) : checkJson(form)
  }

  #isLarge(json: string): boolean {
    return json.length > this.#inlineLimit
  }
}
