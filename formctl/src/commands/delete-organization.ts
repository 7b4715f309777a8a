import type { Command } from 'commander'
import { demandConfirmation } from '../confirm.ts'
import { withExamples } from '../examples.ts'
import { countForms, deleteForms } from '../forms/delete-forms.ts'
import { namingStore } from '../naming-store.ts'
import { openForms } from '../open-stores.ts'
import { theOrganization } from '../references.ts'
import { namedStores } from '../store-urls.ts'
import { withDirectory } from '../with-directory.ts'

/** How long requests that were let in before the members were removed may go on creating forms, in milliseconds. */
const lastRequestsMs = 2_000

export const addDeleteOrganizationCommand = (organization: Command): void => {
  const command = organization
    .command('delete')
    .description('delete an organization with its memberships, forms, revisions and replies')
    .requiredOption('--organization <ref>', 'id or slug')
    .option('-y, --yes', 'do not ask; needed where stdin is no terminal')
    .action(
      withDirectory<{ organization: string }>(async (directory, options, _operands, command) => {
        const { organizationId, slug, name } = await theOrganization(directory, options.organization)
        const members = await directory.listMembers(organizationId)
        const forms = await withForms(async (store) => {
          const total = await countForms(store, organizationId)
          const what = `memberships: ${members.length}, forms with their revisions and replies: ${total}`
          await demandConfirmation(command, `Delete ${slug} ${JSON.stringify(name)} for good (${what})?`)
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
  withExamples(command, 'organization delete --organization acme --yes')
}

const withForms = async <T>(
  work: (store: Awaited<ReturnType<typeof openForms>>) => Promise<T>,
): Promise<T> => {
  await using store = await openForms()
  return await namingStore(namedStores(process.env).forms, () => work(store))
}
