import type { Command } from 'commander'
import { requireConfirmation } from '../../cli/confirm.ts'
import { addExamples } from '../../cli/examples.ts'
import { deleteForms } from '../../forms/delete-forms.ts'
import { countDeletedForms, countForms } from '../../forms/list-forms.ts'
import { getOrganizationByRef } from '../../stores/get-by-ref.ts'
import { withStoreName } from '../../stores/named-store.ts'
import { openForms } from '../../stores/open-stores.ts'
import { namedStores } from '../../stores/store-urls.ts'
import { withDirectory } from '../../stores/with-directory.ts'

/** Requests that were authorized before the members were removed may create forms for this long, in milliseconds. */
const lastRequestsMs = 2_000

export const addDeleteOrganizationCommand = (organization: Command): void => {
  const command = organization
    .command('delete')
    .description('delete an organization with its memberships, forms, revisions and replies')
    .requiredOption('--organization <ref>', 'id or slug')
    .option('-y, --yes', 'skip the confirmation; required if stdin is not a terminal')
    .action(
      withDirectory<{ organization: string }>(async (directory, options, _operands, command) => {
        const { organizationId, slug, name } = await getOrganizationByRef(directory, options.organization)
        const members = await directory.listMembers(organizationId)
        const forms = await withFormsStore(async (store) => {
          const total = await countForms(store, organizationId)
          const deleted = await countDeletedForms(store, organizationId)
          const what = `memberships: ${members.length}, forms with their revisions and replies: ${total}, deleted forms: ${deleted}`
          await requireConfirmation(command, `Delete ${slug} ${JSON.stringify(name)} permanently (${what})?`)
          for (const { userId } of members) await directory.removeMember({ organizationId, userId })
          return deleteForms(command, store, organizationId, members.length > 0 ? lastRequestsMs : 0)
        })
        await directory.deleteOrganization(organizationId)
        return {
          json: { id: organizationId, members: members.length, forms },
          text: `Deleted ${slug} (memberships: ${members.length}, forms: ${forms}).`,
        }
      }),
    )
  addExamples(command, 'organization delete --organization acme --yes')
}

const withFormsStore = async <T>(
  work: (store: Awaited<ReturnType<typeof openForms>>) => Promise<T>,
): Promise<T> => {
  await using store = await openForms()
  return await withStoreName(namedStores(process.env).forms, () => work(store))
}
