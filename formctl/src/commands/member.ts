import { Role } from '@fms/contracts'
import type { DirectoryStore } from '@fms/directory-store'
import { type Command, Option } from 'commander'
import { confirm, yesOption } from '../confirm.ts'
import { withExamples } from '../examples.ts'
import { theOrganization, theUser } from '../references.ts'
import { shortTime } from '../table.ts'
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

  const add = addMemberCommand('add', 'let a user into an organization')
    .addOption(roleOption())
    .action(
      withDirectory<MemberOptions>(async (directory, options) => {
        const { organization, user, membership } = await resolve(directory, options)
        await directory.addMember({ ...membership, role: options.role })
        return { json: {}, text: `${user.email} is now ${options.role} of ${organization.slug}.` }
      }),
    )

  withExamples(
    add,
    'member add --organization acme --user ada@example.com --role owner',
    'member add --organization acme --user ada@example.com',
  )

  const set = addMemberCommand('set', 'give a member another role')
    .addOption(roleOption())
    .action(
      withDirectory<MemberOptions>(async (directory, options) => {
        const { organization, user, membership } = await resolve(directory, options)
        await directory.setMember({ ...membership, role: options.role })
        return { json: {}, text: `${user.email} is now ${options.role} of ${organization.slug}.` }
      }),
    )

  withExamples(set, 'member set --organization acme --user ada@example.com --role viewer')

  const remove = addMemberCommand('remove', 'shut a user out of an organization')
    .option(...yesOption)
    .action(
      withDirectory<MemberOptions>(async (directory, options, _operands, command) => {
        const { organization, user, membership } = await resolve(directory, options)
        await confirm(command, `Shut ${user.email} out of ${organization.slug}?`)
        await directory.removeMember(membership)
        return { json: {}, text: `${user.email} is no longer a member of ${organization.slug}.` }
      }),
    )
  withExamples(remove, 'member remove --organization acme --user ada@example.com --yes')

  const list = member
    .command('list')
    .description("list an organization's members, in the order in which they came")
    .requiredOption('--organization <ref>', 'id or slug')
    .action(
      withDirectory<{ organization: string }>(async (directory, options) => {
        const organization = await theOrganization(directory, options.organization)
        const members = await directory.listMembers(organization.organizationId)
        return {
          json: { members: members.map(({ organizationId: _, ...rest }) => rest) },
          text: `${organization.slug} has no members.`,
          table: {
            columns: ['user', 'email', 'role', 'since'],
            rows: members.map(({ userId, email, role, createTime }) => [
              userId,
              email,
              role,
              shortTime(createTime),
            ]),
          },
        }
      }),
    )
  withExamples(list, 'member list --organization acme')
}

const resolve = async (directory: DirectoryStore, options: MemberOptions) => {
  const organization = await theOrganization(directory, options.organization)
  const user = await theUser(directory, options.user)
  const membership = { organizationId: organization.organizationId, userId: user.userId }
  return { organization, user, membership }
}
