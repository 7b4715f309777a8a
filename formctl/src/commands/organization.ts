import type { DirectoryStore, NewOrganization, OrganizationChange } from '@fms/directory-store'
import { QuotaConfig, readConfig, toQuota } from '@fms/service-kit/settings'
import type { Command } from '../cli/command.ts'
import { parseJson, requireChange } from '../cli/option-values.ts'
import { listOutcome, shortTime, type Work } from '../cli/outcome.ts'
import { countDeletedForms, deleteForms } from '../forms/organization-forms.ts'
import { getOrganizationByRef, openForms, withDirectory, withForms } from '../stores/open-stores.ts'

const organizationOption = ['--organization <ref>', 'id or slug'] as const
const slugOption = ['--slug <slug>', '3 to 48 lower-case letters, digits and single hyphens'] as const
const nameOption = ['--name <name>', '1 to 80 characters'] as const

export const addOrganizationCommands = (formctl: Command): void => {
  const organization = formctl.command('organization').description('organizations, which own forms')
  organization
    .command('create')
    .description('create an organization')
    .requiredOption(...nameOption)
    .requiredOption(...slugOption)
    .option('--logo <url>', 'an absolute http or https URL')
    .option('--metadata <json>', 'any JSON value', parseJson)
    .action(withDirectory(createOrganization))
    .examples(
      "organization create --name 'Analytical Engines' --slug analytical-engines",
      `organization create --name Looms --slug looms --logo https://looms.example/logo.png --metadata '{"plan": "pro"}'`,
    )
  organization
    .command('list')
    .description('list all organizations, oldest first')
    .action(withDirectory(listOrganizations))
    .examples('organization list', 'organization list --json')
  organization
    .command('show')
    .description('show an organization and its quota usage')
    .requiredOption(...organizationOption)
    .action(withDirectory(showOrganization))
    .examples('organization show --organization acme', 'organization show --organization acme --json')
  organization
    .command('update')
    .description('change fields of an organization; a new slug takes effect within a second')
    .requiredOption(...organizationOption)
    .option(...nameOption)
    .option(...slugOption)
    .option('--logo <url>', 'an absolute http or https URL; empty to remove it')
    .option('--metadata <json>', 'any JSON value; null to remove it', parseJson)
    .action(withDirectory(updateOrganization))
    .examples(
      "organization update --organization acme --name 'Acme and Sons'",
      `organization update --organization acme --slug acme-sons --logo '' --metadata '{"plan": "pro"}'`,
    )
  organization
    .command('delete')
    .description('delete an organization with its memberships, forms, revisions and replies')
    .requiredOption(...organizationOption)
    .option('-y, --yes', 'skip the confirmation; required if stdin is not a terminal')
    .action(withDirectory(deleteOrganization))
    .examples('organization delete --organization acme --yes')
}

interface CreateOptions extends Omit<NewOrganization, 'metadata'> {
  metadata?: { value: NewOrganization['metadata'] }
}

const createOrganization: Work<DirectoryStore, CreateOptions> = async (directory, options) => {
  const { name, slug, logo, metadata } = options
  const fields = { name, slug, logo, metadata: metadata?.value }
  const { organizationId } = await directory.createOrganization(fields)
  return { json: { id: organizationId }, text: `Created organization ${slug} with the id ${organizationId}.` }
}

const listOrganizations: Work<DirectoryStore> = async (directory) => {
  const organizations = await directory.listAllOrganizations()
  const items = organizations.map(({ organizationId, ...rest }) => ({ id: organizationId, ...rest }))
  return listOutcome('organizations', items, 'There are no organizations.', {
    id: ({ id }) => id,
    slug: ({ slug }) => slug,
    name: ({ name }) => name,
    created: ({ createTime }) => shortTime(createTime),
  })
}

const showOrganization: Work<DirectoryStore, { organization: string }> = async (
  directory,
  { organization: ref },
) => {
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
}

const usageText = (used: number, limit: number) => (limit > 0 ? `${used} of ${limit}` : `${used}, no limit`)

interface UpdateOptions {
  organization: string
  name?: string
  slug?: string
  logo?: string
  metadata?: { value: OrganizationChange['metadata'] }
}

const updateOrganization: Work<DirectoryStore, UpdateOptions> = async (
  directory,
  options,
  _operands,
  command,
) => {
  const { organization: ref, name, slug, logo, metadata } = options
  const change = { name, slug, logo: logo === '' ? null : logo, metadata: metadata?.value }
  requireChange(command, change)
  const { organizationId } = await getOrganizationByRef(directory, ref)
  const { slug: slugNow } = await directory.updateOrganization(organizationId, change)
  return { json: { id: organizationId }, text: `Updated the organization ${slugNow}.` }
}

/** Requests that were authorized before the members were removed may create forms for this long, in milliseconds. */
const lastRequestsMs = 2_000

const deleteOrganization: Work<DirectoryStore, { organization: string }> = async (
  directory,
  options,
  _operands,
  command,
) => {
  const { organizationId, slug, name } = await getOrganizationByRef(directory, options.organization)
  const members = await directory.listMembers(organizationId)
  const forms = await withForms(async (store) => {
    const { forms: total } = await store.usage(organizationId)
    const deleted = await countDeletedForms(store, organizationId)
    const what = `memberships: ${members.length}, forms with their revisions and replies: ${total}, deleted forms: ${deleted}`
    await command.requireConfirmation(`Delete ${slug} ${JSON.stringify(name)} permanently (${what})?`)
    for (const { userId } of members) await directory.removeMember({ organizationId, userId })
    return deleteForms(command, store, organizationId, members.length > 0 ? lastRequestsMs : 0)
  })
  await directory.deleteOrganization(organizationId)
  return {
    json: { id: organizationId, members: members.length, forms },
    text: `Deleted ${slug} (memberships: ${members.length}, forms: ${forms}).`,
  }
}
