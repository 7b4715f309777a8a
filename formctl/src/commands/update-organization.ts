import type { OrganizationChange } from '@fms/directory-store'
import type { Command } from 'commander'
import { withExamples } from '../examples.ts'
import { demandChange, parseJson } from '../option-values.ts'
import { theOrganization } from '../references.ts'
import { withDirectory } from '../with-directory.ts'

interface UpdateOptions {
  organization: string
  name?: string
  slug?: string
  logo?: string
  metadata?: { value: OrganizationChange['metadata'] }
}

export const addUpdateOrganizationCommand = (organization: Command): void => {
  const update = organization
    .command('update')
    .description('change fields of an organization; a new slug takes effect within a second')
    .requiredOption('--organization <ref>', 'id or slug')
    .option('--name <name>', '1 to 80 characters')
    .option('--slug <slug>', '3 to 48 lower-case letters, digits and single hyphens')
    .option('--logo <url>', 'an absolute http or https URL; an empty text for none')
    .option('--metadata <json>', 'any JSON value; null for none', parseJson)
    .action(
      withDirectory<UpdateOptions>(
        async (directory, { organization: ref, name, slug, logo, metadata }, _operands, command) => {
          const change = { name, slug, logo: logo === '' ? null : logo, metadata: metadata?.value }
          demandChange(command, change)
          const { organizationId } = await theOrganization(directory, ref)
          const { slug: slugNow } = await directory.updateOrganization(organizationId, change)
          return { json: { id: organizationId }, text: `Updated the organization ${slugNow}.` }
        },
      ),
    )
  withExamples(
    update,
    "organization update --organization acme --name 'Acme and Sons'",
    `organization update --organization acme --slug acme-sons --logo '' --metadata '{"plan": "pro"}'`,
  )
}
