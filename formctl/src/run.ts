import { ApiError } from '@fms/aip'
import { CommanderError } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import { Command } from './cli/command.ts'
import { processTerminal, type Terminal } from './cli/terminal.ts'
import { addBackupCommand, addRestoreCommand } from './commands/backup.ts'
import { addCompletionCommand } from './commands/completion.ts'
import { addCopyCommand } from './commands/copy.ts'
import { addDeletedCommands } from './commands/deleted.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addEventsCommands } from './commands/events.ts'
import { addFormsCommands } from './commands/forms.ts'
import { addKeyCommands } from './commands/key.ts'
import { addMemberCommands } from './commands/member.ts'
import { addMigrateCommand } from './commands/migrate.ts'
import { addOrganizationCommands } from './commands/organization.ts'
import { addRevisionsCommands } from './commands/revisions.ts'
import { addUserCommands } from './commands/user.ts'

const exitCode = { done: 0, failed: 1, invalidUsage: 2 } as const

const environmentHelp = `
Environment:
  DIRECTORY_STORE_URL  users, organizations, members, keys (default: sqlite:$DATA_DIR/directory.db)
  FORMS_STORE_URL      forms and revisions (default: sqlite:$DATA_DIR/forms.db)
  NATS_URL             NATS, for doctor (default: the server of npm start in $DATA_DIR)
  DATA_DIR             data folder of npm start (default: .data)
  FORMS_API_URL        base URL of the API, such as https://forms.example.com/v2: commands on
                       keys and deleted forms then use it; forms check, changes, publish, unpublish, rollback need it
  FORMS_API_KEY        your API key, with FORMS_API_URL

Lists are tables on a terminal and JSON elsewhere. Exit codes: 0 done, 1 failed, 2 invalid usage.`

export const createProgram = (terminal: Terminal): Command => {
  const formctl = new Command(terminal, 'formctl')
    .description(
      'Manage users, organizations, API keys, forms and stores of the form service, and check the installation',
    )
    .version(packageJson.version)
    .option('--json', 'print one JSON object')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: terminal.print, writeErr: terminal.printError })
    .showHelpAfterError('Add --help for usage.')
    .addHelpText('after', environmentHelp)
    .exitOverride()
    .examples('user create --email grace@example.com', 'key list', 'help key create')
  addUserCommands(formctl)
  addOrganizationCommands(formctl)
  addMemberCommands(formctl)
  addKeyCommands(formctl)
  addFormsCommands(formctl)
  addDeletedCommands(formctl)
  addRevisionsCommands(formctl)
  addEventsCommands(formctl)
  addMigrateCommand(formctl)
  addCopyCommand(formctl)
  addBackupCommand(formctl)
  addRestoreCommand(formctl)
  addDoctorCommand(formctl)
  addCompletionCommand(formctl)
  return formctl
}

/** The message for stderr. Field violations replace the message of their error; advice to operators follows it. */
const messageOf = (error: unknown): string => {
  if (error instanceof ApiError && error.parts.fieldViolations) {
    return error.parts.fieldViolations.map(({ field, description }) => `${field} ${description}`).join('\n')
  }
  const advice = error instanceof ApiError && error.parts.advice ? ` ${error.parts.advice}` : ''
  return error instanceof Error ? `${error.message}${advice}` : String(error)
}

/** Runs a command line. Prints errors to stderr. @returns the exit code of the process. */
export const run = async (args: string[], terminal: Terminal = processTerminal()): Promise<number> => {
  try {
    await createProgram(terminal).parseAsync(args, { from: 'user' })
    return exitCode.done
  } catch (error) {
    // Commander has printed its message already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.invalidUsage
    terminal.printError(`error: ${messageOf(error)}\n`)
    return exitCode.failed
  }
}
