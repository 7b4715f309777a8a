import type { FormRecord } from '@fms/contracts'
import {
  type FormsStore,
  formDigest,
  formsStoreExists,
  migrateFormsStore,
  openFormsStore,
} from '@fms/forms-store'
import { countAllForms } from '../forms/list-forms.ts'
import { commandTimeoutMs } from '../stores/stores.ts'
import type { StoreKind } from './store-kind.ts'

/** The forms of all organizations, deleted ones included. */
async function* allForms(store: FormsStore): AsyncGenerator<FormRecord> {
  for await (const { organizationId } of store.organizations()) yield* store.exportForms(organizationId)
}

/** Forms with their revisions and replies. Those of an organization are ordered by public id, deleted ones last. */
export const formsKind: StoreKind<FormRecord> = {
  name: 'forms',
  store: 'forms',
  exists: formsStoreExists,
  migrate: migrateFormsStore,
  concurrency: 8,
  open: async (url, readOnly) => {
    const store = await openFormsStore(url, { readOnly, clears: false, timeoutMs: commandTimeoutMs })
    return {
      records: () => allForms(store),
      count: async () => countAllForms(store, await Array.fromAsync(store.organizations())),
      // The copy of the log has the events of the form.
      importRecord: (record) => store.importForm(record, { recordsEvent: false }),
      [Symbol.asyncDispose]: () => store.close(),
    }
  },
  sortKeyOf: ({ organizationId, deletion, publicId }) =>
    `${organizationId}/${deletion ? 'deleted' : 'current'}/${publicId}`,
  nameOf: ({ organizationId, formId }) => `organizations/${organizationId}/forms/${formId}`,
  digestOf: formDigest,
  tallyOf: ({ deletion, revisions, replyIds }) => ({
    [deletion ? 'deletedForms' : 'forms']: 1,
    revisions: revisions.length,
    replies: replyIds.length,
  }),
}
