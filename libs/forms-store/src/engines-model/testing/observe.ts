import type { CheckedFilter } from '@fms/aip'
import type {
  DeletedFormsPage,
  FormRef,
  FormSummariesPage,
  FormsPage,
  RevisionsPage,
} from '../../forms-store.ts'
import type { FormOrderTerm } from '../../lists/form-fields.ts'
import type { RunIds } from './changes.ts'
import type { ModelledStore } from './model.ts'

/** Everything that the organizations of a run have, events and usage included, in a few reads. */
export const glance = async (store: ModelledStore, { organizations }: RunIds) => {
  // Before the other reads: secantusdb reads the parts of a usage one after another, and not a snapshot.
  while ((await store.events.sequence(100)) > 0);
  return Promise.all(
    organizations.map(async (organizationId) => ({
      records: await Array.fromAsync(store.exportForms(organizationId)),
      usage: await store.usage(organizationId),
      log: await logOf(store, organizationId),
    })),
  )
}

/** {@link glance}, and what every other read returns. */
export const observe = async (store: ModelledStore, ids: RunIds) => ({
  all: await glance(store, ids),
  organizations: await Promise.all(ids.organizations.map((id) => reads(store, ids, id))),
  holders: await Promise.all(ids.publicIds.map((publicId) => store.findOrganizationOf(publicId))),
})

const reads = async (store: ModelledStore, ids: RunIds, organizationId: string) => {
  const list = (orderBy: FormOrderTerm[], filter?: CheckedFilter) =>
    everyPage<FormsPage>(
      (after) =>
        store.list({ organizationId, ...(filter && { filter }), orderBy, ...after, limit: 2, skip: 0 }),
      ({ forms }) => forms,
    )
  return {
    lists: await Promise.all([
      list([]),
      list([{ field: 'name', descending: true }]),
      list([], { kind: 'contains', field: 'name', text: 'a' }),
    ]),
    summaries: await everyPage<FormSummariesPage>(
      (after) => store.listSummaries({ organizationId, orderBy: [], ...after, limit: 1, skip: 0 }),
      ({ forms }) => forms,
    ),
    deleted: await everyPage<DeletedFormsPage>(
      (after) => store.listDeleted({ organizationId, ...after, limit: 1, skip: 0 }),
      ({ deletedForms }) => deletedForms,
    ),
    forms: await Promise.all(ids.forms.map((formRef) => readForm(store, { organizationId, formRef }))),
    states: await Promise.all(ids.publicIds.map((formRef) => store.getMetadata({ organizationId, formRef }))),
  }
}

const readForm = async (store: ModelledStore, ref: FormRef) => ({
  form: await store.get(ref),
  deleted: await store.getDeleted(ref),
  live: await store.getRevision(ref, 'live'),
  latest: await store.getRevision(ref, 'latest'),
  revisions: await everyPage<RevisionsPage>(
    (after) => store.listRevisions({ ...ref, ...after, limit: 2, skip: 0 }),
    ({ revisions }) => revisions,
  ),
})

/** The items of all pages. */
const everyPage = async <Page extends { next?: unknown; totalSize: number }>(
  read: (after: { after?: NonNullable<Page['next']> }) => Promise<Page | undefined>,
  itemsOf: (page: Page) => unknown[],
) => {
  const all: unknown[] = []
  let page = await read({})
  const totalSize = page?.totalSize
  while (page) {
    all.push(...itemsOf(page))
    page = page.next === undefined ? undefined : await read({ after: page.next! })
  }
  return { all, totalSize }
}

/**
 * The events of an organization by form, without the ids that the engine has chosen. Events of different forms have the
 * order of their times on one engine, and that of the changes on another one.
 */
const logOf = async (store: ModelledStore, organizationId: string) => {
  const events = await store.events.read({ organizationId, limit: 10_000 })
  return {
    sequences: events.map(({ sequence }) => sequence),
    byForm: Object.groupBy(
      events.map(({ id: _, sequence: __, ...event }) => event),
      ({ subject }) => subject,
    ),
  }
}
