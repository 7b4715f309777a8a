import { type DeletedForm, deletedFormNotFound, type FormsStore } from '@fms/forms-store'
import { type Api, rejectOptions, withApiOr } from '../api/api.ts'
import { addChangeOptions, type ChangeOptions, changeForm, sendChange } from '../api/change-form.ts'
import { type Command, exampleDeletedForm, yesOption } from '../cli/command.ts'
import { listOutcome, type Outcome, printOutcome, shortTime, type Work } from '../cli/outcome.ts'
import { deletedForms } from '../forms/organization-forms.ts'
import { findOrganizationId, withForms } from '../stores/open-stores.ts'

/** Added to the help of options that the store does not support. */
const byApi = ' (only with FORMS_API_URL)'

export const addDeletedCommands = (formctl: Command): void => {
  const deleted = formctl.command('deleted').description('list, restore and purge deleted forms')
  const organizationOption = ['--organization <ref>', 'id or slug'] as const
  deleted
    .command('list')
    .description('list the deleted forms that can be restored, most recently deleted first')
    .requiredOption(...organizationOption)
    .action(withApiOr(withOrganization(listInStore), listByApi))
    .examples('deleted list --organization acme', 'deleted list --organization acme --json')
  addChangeOptions(
    deleted
      .command('undelete')
      .description('restore a deleted form as it was: ids, draft, revisions and replies')
      .argument('<form>', 'id or public id')
      .requiredOption(...organizationOption)
      .action(changeAction(undeleteInStore, undeleteByApi)),
    byApi,
  ).examples(`deleted undelete ${exampleDeletedForm} --organization acme`)
  addChangeOptions(
    deleted
      .command('purge')
      .description('remove a deleted form for good, with its revisions and replies')
      .argument('<form>', 'id or public id')
      .requiredOption(...organizationOption)
      .option(...yesOption)
      .action(changeAction(purgeInStore, purgeByApi)),
    byApi,
  ).examples(`deleted purge ${exampleDeletedForm} --organization acme --yes`)
}

interface ApiOptions extends ChangeOptions {
  organization: string
}

type StoreWork = (
  store: FormsStore,
  organizationId: string,
  operands: string[],
  command: Command,
) => Promise<Outcome>

/** Makes the action of a command: finds the organization, runs `work` on the forms store, and prints its outcome. */
const withOrganization = (work: StoreWork) =>
  async function (this: Command): Promise<void> {
    const organizationId = await findOrganizationId(this.opts<{ organization: string }>().organization)
    printOutcome(this, await withForms((store) => work(store, organizationId, this.args, this)))
  }

/** Makes the action of a command that changes a deleted form, by the API where it is configured. */
const changeAction = (inStore: StoreWork, onApi: Work<Api, ApiOptions>) =>
  withApiOr<ApiOptions>(async function (this: Command) {
    const why = 'works only by the API; leave it out, or set FORMS_API_URL'
    rejectOptions(this, ['validateOnly', 'ifMatch', 'requestId'], why)
    await withOrganization(inStore).call(this)
  }, onApi)

const listByApi: Work<Api, ApiOptions> = async (api, { organization }) => {
  const forms = await Array.fromAsync(api.deletedForms.list(organization, { pageSize: 1_000 }))
  return toOutcome(
    forms.map(({ path, deleteTime, purgeTime, ...rest }) => ({
      formId: path.split('/').at(-1)!,
      ...rest,
      deleteTime: new Date(deleteTime),
      purgeTime: new Date(purgeTime),
    })),
  )
}

const listInStore: StoreWork = async (store, organizationId) => {
  const forms = await Array.fromAsync(deletedForms(store, organizationId))
  return toOutcome(forms.map(({ organizationId: _, ...rest }) => rest))
}

const toOutcome = (forms: Omit<DeletedForm, 'organizationId'>[]): Outcome => {
  const items = forms.map(({ formId, ...rest }) => ({ id: formId, ...rest }))
  return listOutcome('deletedForms', items, 'There are no deleted forms.', {
    id: ({ id }) => id,
    'public id': ({ publicId }) => publicId,
    name: ({ name }) => name,
    deleted: ({ deleteTime }) => shortTime(deleteTime),
    by: ({ deleter }) => deleter || 'an operator',
    'purged after': ({ purgeTime }) => shortTime(purgeTime),
  })
}

const undeleteByApi: Work<Api, ApiOptions> = (api, { organization, ...options }, [formRef = '']) =>
  changeForm(api, ['Restored', 'restore'], options, (write) =>
    api.deletedForms.undelete(organization, formRef, write),
  )

const undeleteInStore: StoreWork = async (store, organizationId, [formRef = '']) => {
  const ref = { organizationId, formRef }
  const form = await store.undelete(ref, () => {})
  if (!form) throw deletedFormNotFound(ref)
  return {
    json: { id: form.formId, publicId: form.publicId },
    text: `Restored the form ${form.publicId} ${JSON.stringify(form.name)}.`,
  }
}

const purgeInStore: StoreWork = async (store, organizationId, [formRef = ''], command) => {
  const ref = { organizationId, formRef }
  const deleted = await store.getDeleted(ref)
  if (!deleted) throw deletedFormNotFound(ref)
  const { formId, publicId, name } = deleted
  await command.confirm(`Purge the form ${publicId} ${JSON.stringify(name)} permanently?`)
  if (!(await store.purge({ organizationId, formRef: formId }, () => {}))) throw deletedFormNotFound(ref)
  return { json: { id: formId }, text: `Purged the form ${publicId}.` }
}

/** Requires the key of an owner. */
const purgeByApi: Work<Api, ApiOptions> = async (api, { organization, ...options }, [form = ''], command) => {
  if (!options.validateOnly) await command.confirm(`Purge the form ${form} permanently?`)
  const { outcome } = await sendChange(api, options, (write) =>
    api.deletedForms.purge(organization, form, write),
  )
  const done = outcome.replayed ? `The form ${form} was purged before.` : `Purged the form ${form}.`
  return {
    json: { form, ...outcome },
    text: options.validateOnly ? `Nothing was changed. The service would purge the form ${form}.` : done,
  }
}
