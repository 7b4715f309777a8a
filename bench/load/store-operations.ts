import type { CheckedFilter } from '@fms/aip'
import type { FormOrderTerm, FormsStore, ListFormsQuery } from '@fms/forms-store'
import { formIdOf, formTimeOf, prefixOf, wordOf } from '../data/generated-forms.ts'

/** An organization of one size in a database of its own. */
export interface StoredOrganization extends AsyncDisposable {
  url: string
  store: FormsStore
  organizationId: string
  forms: number
}

/** One call of the store's port with random parameters. */
export type Call = (organization: StoredOrganization) => Promise<unknown>

const list =
  (queryOf: (forms: number) => Partial<ListFormsQuery>): Call =>
  ({ store, organizationId, forms }) =>
    store.list({ organizationId, orderBy: [], limit: 10, skip: 0, ...queryOf(forms) })

const filtered = (filterOf: (random: number) => CheckedFilter): Call =>
  list((forms) => ({ filter: filterOf(Math.floor(Math.random() * forms)) }))

const ordered = (...orderBy: FormOrderTerm[]): Call => list(() => ({ orderBy }))

const ascending = (field: FormOrderTerm['field']): FormOrderTerm => ({ field, descending: false })
const descending = (field: FormOrderTerm['field']): FormOrderTerm => ({ field, descending: true })

/** Operations on an organization by their names. Each list also returns its total. */
export const storeOperations: Record<string, Call> = {
  get: ({ store, organizationId, forms }) =>
    store.get({ organizationId, formRef: formIdOf(Math.floor(Math.random() * forms)) }),
  usage: ({ store, organizationId }) => store.usage(organizationId),
  list: list(() => ({})),
  'list, from the middle': list((forms) => ({ after: [formTimeOf(Math.floor(forms / 2)), ''] })),
  'list, one form': list(() => ({ limit: 1 })),
  'order: name': ordered(ascending('name')),
  'order: createTime desc': ordered(descending('createTime')),
  'order: replyCount desc': ordered(descending('replyCount')),
  'order: name, createTime desc': ordered(ascending('name'), descending('createTime')),
  'order: replyCount desc, updateTime': ordered(descending('replyCount'), ascending('updateTime')),
  'name = "prefix*" (10 forms)': filtered((number) => ({
    kind: 'match',
    field: 'name',
    parts: [prefixOf(number), ''],
  })),
  'search("word") (10 forms)': filtered((number) => ({
    kind: 'search',
    field: 'name',
    text: wordOf(number),
  })),
  'name:"word" (10 forms)': filtered((number) => ({ kind: 'contains', field: 'name', text: wordOf(number) })),
  'updateTime >= t (10 forms)': list((forms) => ({
    filter: { kind: 'compareTime', field: 'updateTime', operator: '>=', epochMs: formTimeOf(forms - 10) },
  })),
  'type = dynamic (none)': filtered(() => ({
    kind: 'compare',
    field: 'type',
    operator: '=',
    value: 'dynamic',
  })),
  'type = structured (all)': filtered(() => ({
    kind: 'compare',
    field: 'type',
    operator: '=',
    value: 'structured',
  })),
  'updateTime >= t (half)': list((forms) => ({
    filter: { kind: 'compareTime', field: 'updateTime', operator: '>=', epochMs: formTimeOf(forms / 2) },
  })),
}
