import { ApiError } from '@fms/aip'
import { Command, CommanderError } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import { addBackupCommand } from './commands/backup.ts'
import { addCompletionCommand } from './commands/completion.ts'
import { addCopyCommand } from './commands/copy.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addFormsCommands } from './commands/forms.ts'
import { addKeyCommands } from './commands/key.ts'
import { addMemberCommands } from './commands/member.ts'
import { addMigrateCommand } from './commands/migrate.ts'
import { addOrganizationCommands } from './commands/organization.ts'
import { addRestoreCommand } from './commands/restore.ts'
import { addUserCommands } from './commands/user.ts'
import { withExamples } from './examples.ts'
import { processTerminal, setTerminal, type Terminal } from './terminal.ts'

/** What the process ends with. */
export const exitCode = { done: 0, failed: 1, wrongUsage: 2 } as const

const surroundings = `
Environment:
  DIRECTORY_STORE_URL  users, organizations, members, keys (default: sqlite:$DATA_DIR/directory.db)
  FORMS_STORE_URL      forms and revisions (default: sqlite:$DATA_DIR/forms.db)
  NATS_URL             messages, for doctor (default: the NATS of npm start in $DATA_DIR)
  DATA_DIR             files of npm start (default: .data)

Lists are tables on a terminal and JSON anywhere else. Exit codes: 0 done, 1 refused or failed, 2 wrong usage.`

/** The whole command line, ready to parse. */
export const createProgram = (terminal: Terminal): Command => {
  const formctl = new Command('formctl')
    .description('Users, organizations, members and API keys of the form service, and its well-being')
    .version(packageJson.version)
    .option('--json', 'print one JSON object alone')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: terminal.print, writeErr: terminal.complain })
    .showHelpAfterError('Add --help for how to use it.')
    .addHelpText('after', surroundings)
    .exitOverride()
  setTerminal(formctl, terminal)
  withExamples(formctl, 'user create --email grace@example.com', 'key list', 'help key create')
  addUserCommands(formctl)
  addOrganizationCommands(formctl)
  addMemberCommands(formctl)
  addKeyCommands(formctl)
  addFormsCommands(formctl)
  addMigrateCommand(formctl)
  addCopyCommand(formctl)
  addBackupCommand(formctl)
  addRestoreCommand(formctl)
  addDoctorCommand(formctl)
  addCompletionCommand(formctl)
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
export const run = async (args: string[], terminal: Terminal = processTerminal()): Promise<number> => {
  try {
    await createProgram(terminal).parseAsync(args, { from: 'user' })
    return exitCode.done
  } catch (error) {
    // Commander has written its own message by now.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.wrongUsage
    terminal.complain(`error: ${messageOf(error)}\n`)
    return exitCode.failed
  }
}
