import type { FormPath } from '@fms/contracts'
import {
  type FormRevisions,
  formsPerRead,
  manyRevisions,
  maxCountedForms,
  maxCountedRevisions,
  type PruneRule,
  type RevisionGrowth,
  type RevisionsSize,
  withMinAge,
} from '../../revisions/revision-growth.ts'
import type { FormsCollections } from '../documents.ts'
import { formIdOf, visibilityFields, visibleRevisions } from '../form-queries.ts'
import { measurePrunable, pruneRevisions } from './prune-revisions.ts'

/** The revisions in a database. */
export class MongoRevisionGrowth implements RevisionGrowth {
  readonly #collections: FormsCollections

  constructor(collections: FormsCollections) {
    this.#collections = collections
  }

  /** Index: forms_by_publicId_and_id. */
  async *formsToPrune(organizationId: string, keep: number): AsyncGenerator<FormPath> {
    const options = {
      sort: { publicId: 1 },
      limit: formsPerRead,
      fields: ['publicId', 'revisionNumber'],
    } as const
    for (let after = ''; ; ) {
      const query = { organizationId, publicId: { $gt: after } }
      const page = await Array.fromAsync(this.#collections.forms.find(query, options))
      for (const form of page)
        if (form.revisionNumber > keep) yield { organizationId, formId: formIdOf(form) }
      if (page.length < formsPerRead) return
      after = page.at(-1)!.publicId
    }
  }

  prunable(form: FormPath, rule: PruneRule): Promise<RevisionsSize> {
    return measurePrunable(this.#collections, form, withMinAge(rule))
  }

  prune(form: FormPath, rule: PruneRule): Promise<RevisionsSize> {
    return pruneRevisions(this.#collections, form, withMinAge(rule))
  }

  /** Indexes: forms_by_revisionNumber, revisions_by_incarnation. */
  async formsWithMany(limit: number): Promise<FormRevisions[]> {
    const { forms, revisions } = this.#collections
    const published = forms.find(
      { revisionNumber: { $gt: manyRevisions } },
      {
        sort: { revisionNumber: -1 },
        limit: maxCountedForms,
        fields: [...visibilityFields, 'publicId'],
      },
    )
    const found: FormRevisions[] = []
    for (const form of await Array.fromAsync(published)) {
      const { organizationId, publicId } = form
      const formId = formIdOf(form)
      const count = await revisions.count(visibleRevisions(form), { limit: maxCountedRevisions })
      if (count > manyRevisions) found.push({ organizationId, formId, publicId, revisions: count })
      if (found.length === limit) break
    }
    return found
  }

  /** Reads the usage document of each organization. */
  async total(): Promise<RevisionsSize> {
    const { usage } = this.#collections
    const [revisions, bytes] = await Promise.all([usage.sum({}, 'revisions'), usage.sum({}, 'revisionBytes')])
    return { revisions: revisions.sum, bytes: bytes.sum }
  }
}
