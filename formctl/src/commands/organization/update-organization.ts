import type { OrganizationChange } from '@fms/directory-store'
import type { Command } from 'commander'
import { addExamples } from '../../cli/examples.ts'
import { parseJson, requireChange } from '../../cli/option-values.ts'
import { getOrganizationByRef } from '../../stores/get-by-ref.ts'
import { withDirectory } from '../../stores/with-directory.ts'

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
