import { Role } from '@fms/contracts'
import type { DirectoryStore } from '@fms/directory-store'
import { Option } from 'commander'
import { type Command, yesOption } from '../cli/command.ts'
import { listOutcome, shortTime, type Work } from '../cli/outcome.ts'
import { getOrganizationByRef, getUserByRef, withDirectory } from '../stores/open-stores.ts'

interface MemberOptions {
  organization: string
  user: string
  role: Role
}

export const addMemberCommands = (formctl: Command): void => {
  const member = formctl.command('member').description('memberships of users in organizations')
  const membershipCommand = (verb: string, description: string) =>
    member
      .command(verb)
      .description(description)
      .requiredOption('--organization <ref>', 'id or slug')
      .requiredOption('--user <ref>', 'id or e-mail address')
  const roleOption = () => new Option('--role <role>', 'what the member may do').choices(Role.options)

  membershipCommand('add', 'add a user to an organization')
    .addOption(roleOption().default('editor'))
    .action(withDirectory(setRole('addMember')))
    .examples(
      'member add --organization acme --user ada@example.com --role owner',
      'member add --organization acme --user ada@example.com',
    )
  membershipCommand('set', 'change the role of a member')
    .addOption(roleOption().makeOptionMandatory())
    .action(withDirectory(setRole('setMember')))
    .examples('member set --organization acme --user ada@example.com --role viewer')
  membershipCommand('remove', 'remove a user from an organization')
    .option(...yesOption)
    .action(withDirectory(removeMember))
    .examples('member remove --organization acme --user ada@example.com --yes')
  member
    .command('list')
    .description('list the members of an organization, oldest membership first')
    .requiredOption('--organization <ref>', 'id or slug')
    .action(withDirectory(listMembers))
    .examples('member list --organization acme')
}

const setRole =
  (method: 'addMember' | 'setMember'): Work<DirectoryStore, MemberOptions> =>
  async (directory, options) => {
    const { organization, user, membership } = await resolve(directory, options)
    await directory[method]({ ...membership, role: options.role })
    return { json: {}, text: `${user.email} is now ${options.role} of ${organization.slug}.` }
  }

const removeMember: Work<DirectoryStore, MemberOptions> = async (directory, options, _operands, command) => {
  const { organization, user, membership } = await resolve(directory, options)
  await command.confirm(`Remove ${user.email} from ${organization.slug}?`)
  await directory.removeMember(membership)
  return { json: {}, text: `${user.email} is no longer a member of ${organization.slug}.` }
}

const listMembers: Work<DirectoryStore, { organization: string }> = async (directory, options) => {
  const organization = await getOrganizationByRef(directory, options.organization)
  const members = await directory.listMembers(organization.organizationId)
  const items = members.map(({ organizationId: _, ...rest }) => rest)
  return listOutcome('members', items, `${organization.slug} has no members.`, {
    user: ({ userId }) => userId,
    email: ({ email }) => email,
    role: ({ role }) => role,
    since: ({ createTime }) => shortTime(createTime),
  })
}

const resolve = async (directory: DirectoryStore, options: MemberOptions) => {
  const organization = await getOrganizationByRef(directory, options.organization)
  const user = await getUserByRef(directory, options.user)
  const membership = { organizationId: organization.organizationId, userId: user.userId }
  return { organization, user, membership }
}
