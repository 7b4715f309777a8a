import type { NewOrganization } from '@fms/directory-store'
import { QuotaConfig, readConfig, toQuota } from '@fms/service-kit'
import type { Command } from 'commander'
import { addExamples } from '../../cli/examples.ts'
import { parseJson } from '../../cli/option-values.ts'
import { shortTime } from '../../cli/table.ts'
import { countDeletedForms } from '../../forms/list-forms.ts'
import { getOrganizationByRef } from '../../stores/get-by-ref.ts'
import { openForms } from '../../stores/open-stores.ts'
import { withDirectory } from '../../stores/with-directory.ts'
import { addDeleteOrganizationCommand } from './delete-organization.ts'
import { addUpdateOrganizationCommand } from './update-organization.ts'

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
