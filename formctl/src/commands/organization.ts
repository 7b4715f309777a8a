import type { NewOrganization } from '@fms/directory-store'
import type { Command } from 'commander'
import { parseJson } from '../option-values.ts'
import { withDirectory } from '../with-directory.ts'

export const addOrganizationCommands = (formctl: Command): void => {
  const organization = formctl.command('organization').description('organizations, which own forms')

  organization
    .command('create')
    .description('create an organization')
    .requiredOption('--name <name>', '1 to 80 characters')
    .requiredOption('--slug <slug>', '3 to 48 lower-case letters, digits and single hyphens')
    .option('--logo <url>', 'an absolute http or https URL')
    .option('--metadata <json>', 'any JSON value', parseJson)
    .action(
      withDirectory<NewOrganization>(async (directory, { name, slug, logo, metadata }) => {
        const { organizationId } = await directory.createOrganization({ name, slug, logo, metadata })
        return {
          json: { id: organizationId },
          text: `Created organization ${slug} with the id ${organizationId}.`,
        }
      }),
    )
}
