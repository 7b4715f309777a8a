import type { NewOrganization, OrganizationChange } from '@fms/directory-store'
import { QuotaConfig, readConfig, toQuota } from '@fms/service-kit'
import type { Command } from 'commander'
import { addExamples } from '../cli/examples.ts'
import { parseJson, requireChange } from '../cli/option-values.ts'
import { shortTime } from '../cli/outcome.ts'
import { requireConfirmation } from '../cli/terminal.ts'
import { countDeletedForms, countForms, deleteForms } from '../forms/list-forms.ts'
import {
  getOrganizationByRef,
  namedStores,
  openForms,
  withDirectory,
  withStoreName,
} from '../stores/stores.ts'

interface CreateOptions extends Omit<NewOrganization, 'metadata'> {
  metadata?: { value: NewOrganization['metadata'] }
}

export const addOrganizationCommands = (formctl: Command): void => {
  const organization = formctl.command('organization').description('organizations, which own forms')
  addCreateOrganizationCommand(organization)
  addListOrganizationsCommand(organization)
  addShowOrganizationCommand(organization)
  addUpdateOrganizationCommand(organization)
  addDeleteOrganizationCommand(organization)
}

const addCreateOrganizationCommand = (organization: Command): void => {
  const create = organization
    .command('create')
    .description('create an organization')
    .requiredOption('--name <name>', '1 to 80 characters')
    .requiredOption('--slug <slug>', '3 to 48 lower-case letters, digits and single hyphens')
    .option('--logo <url>', 'an absolute http or https URL')
    .option('--metadata <json>', 'any JSON value', parseJson)
    .action(
      withDirectory<CreateOptions>(async (directory, { metadata, name, slug, logo }) => {
        const fields = { name, slug, logo, metadata: metadata?.value }
        const { organizationId } = await directory.createOrganization(fields)
        return {
          json: { id: organizationId },
          text: `Created organization ${slug} with the id ${organizationId}.`,
        }
      }),
    )
  addExamples(
    create,
    "organization create --name 'Analytical Engines' --slug analytical-engines",
    `organization create --name Looms --slug looms --logo https://looms.example/logo.png --metadata '{"plan": "pro"}'`,
  )
}

const addListOrganizationsCommand = (organization: Command): void => {
  const list = organization
    .command('list')
    .description('list all organizations, oldest first')
    .action(
      withDirectory(async (directory) => {
        const organizations = await directory.listAllOrganizations()
        return {
          json: {
            organizations: organizations.map(({ organizationId, ...rest }) => ({
              id: organizationId,
              ...rest,
            })),
          },
          text: 'There are no organizations.',
          table: {
            columns: ['id', 'slug', 'name', 'created'],
            rows: organizations.map(({ organizationId, slug, name, createTime }) => [
              organizationId,
              slug,
              name,
              shortTime(createTime),
            ]),
          },
        }
      }),
    )
  addExamples(list, 'organization list', 'organization list --json')
}

const addShowOrganizationCommand = (organization: Command): void => {
  const show = organization
    .command('show')
    .description('show an organization and its quota usage')
    .requiredOption('--organization <ref>', 'id or slug')
    .action(
      withDirectory<{ organization: string }>(async (directory, { organization: ref }) => {
        const { organizationId, ...rest } = await getOrganizationByRef(directory, ref)
        await using forms = await openForms()
        const usage = await forms.usage(organizationId)
        const deletedForms = await countDeletedForms(forms, organizationId)
        const quota = toQuota(readConfig(QuotaConfig))
        return {
          json: { id: organizationId, ...rest, usage, deletedForms, quota },
          text: [
            `${rest.slug} (${rest.name}), id ${organizationId}, created ${shortTime(rest.createTime)}`,
            `forms: ${usageText(usage.forms, quota.forms)}`,
            `deleted forms: ${deletedForms}`,
            `bytes of drafts, revisions and events: ${usageText(usage.bytes, quota.bytes)}`,
          ].join('\n'),
        }
      }),
    )
  addExamples(show, 'organization show --organization acme', 'organization show --organization acme --json')
}

const usageText = (used: number, limit: number) => (limit > 0 ? `${used} of ${limit}` : `${used}, no limit`)

interface UpdateOptions {
  organization: string
  name?: string
  slug?: string
  logo?: string
  metadata?: { value: OrganizationChange['metadata'] }
}

const addUpdateOrganizationCommand = (organization: Command): void => {
  const update = organization
    .command('update')
    .description('change fields of an organization; a new slug takes effect within a second')
    .requiredOption('--organization <ref>', 'id or slug')
    .option('--name <name>', '1 to 80 characters')
    .option('--slug <slug>', '3 to 48 lower-case letters, digits and single hyphens')
    .option('--logo <url>', 'an absolute http or https URL; empty to remove it')
    .option('--metadata <json>', 'any JSON value; null to remove it', parseJson)
    .action(
      withDirectory<UpdateOptions>(
        async (directory, { organization: ref, name, slug, logo, metadata }, _operands, command) => {
          const change = { name, slug, logo: logo === '' ? null : logo, metadata: metadata?.value }
          requireChange(command, change)
          const { organizationId } = await getOrganizationByRef(directory, ref)
          const { slug: slugNow } = await directory.updateOrganization(organizationId, change)
          return { json: { id: organizationId }, text: `Updated the organization ${slugNow}.` }
        },
      ),
    )
  addExamples(
    update,
    "organization update --organization acme --name 'Acme and Sons'",
    `organization update --organization acme --slug acme-sons --logo '' --metadata '{"plan": "pro"}'`,
  )
}

/** Requests that were authorized before the members were removed may create forms for this long, in milliseconds. */
const lastRequestsMs = 2_000

const addDeleteOrganizationCommand = (organization: Command): void => {
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
