import type { FilterFields } from '@fms/aip'
import { readListQuery } from '@fms/aip'
import { FormType } from '@fms/contracts'
import { formOrderFields } from '@fms/forms-store'
import type { FormsDeps } from '../app.ts'

/** What a filter may name (AIP-160), and where `search()` and bare terms look. */
const filterFields: FilterFields = {
  fields: {
    name: { type: 'string' },
    publicId: { type: 'string' },
    type: { type: 'enum', values: FormType.options },
    createTime: { type: 'time' },
    updateTime: { type: 'time' },
  },
  search: 'name',
}

/** The list of forms that a query asks for. @throws {ApiError} of {@link readListQuery}. */
export const toListQuery = (
  organizationId: string,
  query: unknown,
  { pageTokens }: Pick<FormsDeps, 'pageTokens'>,
) => ({
  organizationId,
  ...readListQuery(query, {
    filterFields,
    orderFields: formOrderFields,
    scope: ['forms', organizationId],
    pageTokens,
  }),
})
