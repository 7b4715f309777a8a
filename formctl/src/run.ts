import { ApiError } from '@fms/aip'
import { Command, CommanderError } from 'commander'
import { addKeyCommands } from './commands/key.ts'
import { addMemberCommands } from './commands/member.ts'
import { addMigrateCommand } from './commands/migrate.ts'
import { addOrganizationCommands } from './commands/organization.ts'
import { addUserCommands } from './commands/user.ts'

/** What the process ends with. */
export const exitCode = { done: 0, failed: 1, wrongUsage: 2 } as const

const program = (): Command => {
  const formctl = new Command('formctl')
    .description('Users, organizations, members and API keys of the form service')
    .option('--json', 'print one JSON object alone')
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('Add --help for how to use it.')
    .addHelpText(
      'after',
      '\nDIRECTORY_STORE_URL names the store; the default is sqlite:$DATA_DIR/directory.db.' +
        '\nmigrate also reads FORMS_STORE_URL; the default is sqlite:$DATA_DIR/forms.db.',
    )
    .exitOverride()
  addUserCommands(formctl)
  addOrganizationCommands(formctl)
  addMemberCommands(formctl)
  addKeyCommands(formctl)
  addMigrateCommand(formctl)
  return formctl
}

/** A message for the command line: violations speak for themselves there, and nothing is sent again. */
const messageOf = (error: unknown): string => {
  if (error instanceof ApiError && error.parts.fieldViolations) {
    return error.parts.fieldViolations.map(({ field, description }) => `${field} ${description}`).join('\n')
  }
  return error instanceof Error ? error.message : String(error)
}

/** Runs one command line. What goes wrong is a line on stderr. @returns the process's exit code. */
export const run = async (args: string[]): Promise<number> => {
  try {
    await program().parseAsync(args, { from: 'user' })
    return exitCode.done
  } catch (error) {
    // Commander has written its own message by now.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.wrongUsage
    process.stderr.write(`error: ${messageOf(error)}\n`)
    return exitCode.failed
  }
}
