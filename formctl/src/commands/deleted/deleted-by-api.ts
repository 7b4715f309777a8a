import { type DeletedForm, EmptyResponse, Form, ListDeletedFormsResponse } from '@fms/contracts'
import type { Command } from 'commander'
import type { Api } from '../../api/api.ts'
import { formOutcome } from '../../api/form-outcome.ts'
import { readPages } from '../../api/read-pages.ts'
import { type ChangeOptions, sendChange } from '../../api/send-change.ts'
import { confirm } from '../../cli/confirm.ts'
import type { Outcome } from '../../cli/outcome.ts'
import { listOutcome } from './list-outcome.ts'

/** Options of the commands on deleted forms. */
export interface ApiOptions extends ChangeOptions {
  organization: string
}

const pathOf = (organization: string) => `/organizations/${encodeURIComponent(organization)}/deletedForms`

/** Lists the deleted forms of an organization by the API. */
export const listDeletedByApi = async (api: Api, { organization }: ApiOptions): Promise<Outcome> =>
  listOutcome(
    (await readAll(api, organization)).map(({ path, deleteTime, purgeTime, ...rest }) => ({
      id: path.split('/').at(-1)!,
      ...rest,
      deleteTime: new Date(deleteTime),
      purgeTime: new Date(purgeTime),
    })),
  )

const readAll = async (api: Api, organization: string): Promise<DeletedForm[]> =>
  (await readPages(api, ListDeletedFormsResponse, pathOf(organization))).flatMap(
    ({ deletedForms }) => deletedForms,
  )

/** Restores a deleted form by the API. */
export const undeleteByApi = async (
  api: Api,
  { organization, ...options }: ApiOptions,
  [formRef = '']: string[],
): Promise<Outcome> => {
  const path = `${pathOf(organization)}/${encodeURIComponent(formRef)}/undelete`
  const sent = await sendChange(api, Form, { method: 'POST', path }, options)
  return formOutcome({ past: 'Restored', infinitive: 'restore' }, sent, options.validateOnly)
}

/** Purges a deleted form by the API, which requires the key of an owner. */
export const purgeByApi = async (
  api: Api,
  { organization, ...options }: ApiOptions,
  [formRef = '']: string[],
  command: Command,
): Promise<Outcome> => {
  const { validateOnly = false } = options
  if (!validateOnly) await confirm(command, `Purge the form ${formRef} permanently?`)
  const path = `${pathOf(organization)}/${encodeURIComponent(formRef)}`
  const { requestId, isReplayed } = await sendChange(api, EmptyResponse, { method: 'DELETE', path }, options)
  const done = isReplayed ? `The form ${formRef} was purged before.` : `Purged the form ${formRef}.`
  return {
    json: { form: formRef, requestId, replayed: isReplayed, validateOnly },
    text: validateOnly ? `Nothing was changed. The service would purge the form ${formRef}.` : done,
  }
}
