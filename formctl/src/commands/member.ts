import { Role } from '@fms/contracts'
import type { DirectoryStore } from '@fms/directory-store'
import { type Command, Option } from 'commander'
import { theOrganization, theUser } from '../references.ts'
import { withDirectory } from '../with-directory.ts'

interface MemberOptions {
  organization: string
  user: string
  role: Role
}

const roleOption = () =>
  new Option('--role <role>', 'what the member may do').choices(Role.options).default('editor')

export const addMemberCommands = (formctl: Command): void => {
  const member = formctl.command('member').description("users' memberships in organizations")

  const addMemberCommand = (verb: string, description: string) =>
    member
      .command(verb)
      .description(description)
      .requiredOption('--organization <ref>', 'id or slug')
      .requiredOption('--user <ref>', 'id or e-mail address')

  addMemberCommand('add', 'let a user into an organization')
    .addOption(roleOption())
    .action(
      withDirectory<MemberOptions>(async (directory, options) => {
        const { organization, user, membership } = await resolve(directory, options)
        await directory.addMember({ ...membership, role: options.role })
        return { json: {}, text: `${user.email} is now ${options.role} of ${organization.slug}.` }
      }),
    )

  addMemberCommand('set', 'give a member another role')
    .addOption(roleOption())
    .action(
      withDirectory<MemberOptions>(async (directory, options) => {
        const { organization, user, membership } = await resolve(directory, options)
        await directory.setMember({ ...membership, role: options.role })
        return { json: {}, text: `${user.email} is now ${options.role} of ${organization.slug}.` }
      }),
    )

  addMemberCommand('remove', 'shut a user out of an organization').action(
    withDirectory<MemberOptions>(async (directory, options) => {
      const { organization, user, membership } = await resolve(directory, options)
      await directory.removeMember(membership)
      return { json: {}, text: `${user.email} is no longer a member of ${organization.slug}.` }
    }),
  )
}

const resolve = async (directory: DirectoryStore, options: MemberOptions) => {
  const organization = await theOrganization(directory, options.organization)
  const user = await theUser(directory, options.user)
  const membership = { organizationId: organization.organizationId, userId: user.userId }
  return { organization, user, membership }
}
