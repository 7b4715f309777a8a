import { Role } from '@fms/contracts'
import type { DirectoryStore } from '@fms/directory-store'
import { type Command, Option } from 'commander'
import { addExamples } from '../cli/examples.ts'
import { shortTime } from '../cli/outcome.ts'
import { confirm, yesOption } from '../cli/terminal.ts'
import { getOrganizationByRef, getUserByRef, withDirectory } from '../stores/stores.ts'

interface MemberOptions {
  organization: string
  user: string
  role: Role
}

export const addMemberCommands = (formctl: Command): void => {
  const member = formctl.command('member').description('memberships of users in organizations')
  addAddMemberCommand(member)
  addSetMemberCommand(member)
  addRemoveMemberCommand(member)
  addListMembersCommand(member)
}

/** A command on one membership. */
const membershipCommand = (member: Command, verb: string, description: string): Command =>
  member
    .command(verb)
    .description(description)
    .requiredOption('--organization <ref>', 'id or slug')
    .requiredOption('--user <ref>', 'id or e-mail address')

const roleOption = () =>
  new Option('--role <role>', 'what the member may do').choices(Role.options).default('editor')

const addAddMemberCommand = (member: Command): void => {
  const add = membershipCommand(member, 'add', 'add a user to an organization')
    .addOption(roleOption())
    .action(
      withDirectory<MemberOptions>(async (directory, options) => {
        const { organization, user, membership } = await resolve(directory, options)
        await directory.addMember({ ...membership, role: options.role })
        return { json: {}, text: `${user.email} is now ${options.role} of ${organization.slug}.` }
      }),
    )
  addExamples(
    add,
    'member add --organization acme --user ada@example.com --role owner',
    'member add --organization acme --user ada@example.com',
  )
}

const addSetMemberCommand = (member: Command): void => {
  const set = membershipCommand(member, 'set', 'change the role of a member')
    .addOption(roleOption())
    .action(
      withDirectory<MemberOptions>(async (directory, options) => {
        const { organization, user, membership } = await resolve(directory, options)
        await directory.setMember({ ...membership, role: options.role })
        return { json: {}, text: `${user.email} is now ${options.role} of ${organization.slug}.` }
      }),
    )
  addExamples(set, 'member set --organization acme --user ada@example.com --role viewer')
}

const addRemoveMemberCommand = (member: Command): void => {
  const remove = membershipCommand(member, 'remove', 'remove a user from an organization')
    .option(...yesOption)
    .action(
      withDirectory<MemberOptions>(async (directory, options, _operands, command) => {
        const { organization, user, membership } = await resolve(directory, options)
        await confirm(command, `Remove ${user.email} from ${organization.slug}?`)
        await directory.removeMember(membership)
        return { json: {}, text: `${user.email} is no longer a member of ${organization.slug}.` }
      }),
    )
  addExamples(remove, 'member remove --organization acme --user ada@example.com --yes')
}

const addListMembersCommand = (member: Command): void => {
  const list = member
    .command('list')
    .description('list the members of an organization, oldest membership first')
    .requiredOption('--organization <ref>', 'id or slug')
    .action(
      withDirectory<{ organization: string }>(async (directory, options) => {
        const organization = await getOrganizationByRef(directory, options.organization)
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
  addExamples(list, 'member list --organization acme')
}

const resolve = async (directory: DirectoryStore, options: MemberOptions) => {
  const organization = await getOrganizationByRef(directory, options.organization)
  const user = await getUserByRef(directory, options.user)
  const membership = { organizationId: organization.organizationId, userId: user.userId }
  return { organization, user, membership }
}
