import type {
  DeletedForm,
  DeletedFormPosition,
  FormPosition,
  FormsStore,
  OrganizationForms,
} from '@fms/forms-store'

const pageSize = 100

/** The number of forms of an organization, without deleted ones. */
export const countForms = async (store: FormsStore, organizationId: string): Promise<number> =>
  (await store.list({ organizationId, orderBy: [], limit: 1, skip: 0 })).totalSize

/** The number of deleted forms of an organization that can be restored. */
export const countDeletedForms = async (store: FormsStore, organizationId: string): Promise<number> =>
  (await store.listDeleted({ organizationId, limit: 1, skip: 0 })).totalSize

/** The number of forms of these organizations, deleted ones included. */
export const countAllForms = async (
  store: FormsStore,
  organizations: readonly OrganizationForms[],
): Promise<number> => {
  let total = 0
  for (const { organizationId, forms } of organizations) {
    total += forms + (await countDeletedForms(store, organizationId))
  }
  return total
}

/** The ids of an organization's forms, read in pages. Forms may be deleted during the iteration. */
export async function* formIds(store: FormsStore, organizationId: string): AsyncGenerator<string> {
  const orderBy = [{ field: 'publicId' as const, descending: false }]
  let after: FormPosition | undefined
  do {
    const page = { organizationId, orderBy, limit: pageSize, skip: 0, ...(after && { after }) }
    const { forms, next } = await store.list(page)
    for (const { formId } of forms) yield formId
    after = next
  } while (after)
}

/** The deleted forms of an organization, most recently deleted first. They may be purged during the iteration. */
export async function* deletedForms(store: FormsStore, organizationId: string): AsyncGenerator<DeletedForm> {
  let after: DeletedFormPosition | undefined
  do {
    const page = { organizationId, limit: pageSize, skip: 0, ...(after && { after }) }
    const { deletedForms, next } = await store.listDeleted(page)
    yield* deletedForms
    after = next
  } while (after)
}
