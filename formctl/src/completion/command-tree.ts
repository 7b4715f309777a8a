import type { Command } from 'commander'

export interface CompletedOption {
  /** Without its dashes. */
  name: string
  description: string
  takesValue: boolean
  /** Its possible values; empty if any text is valid. */
  choices: readonly string[]
}

/** A command, and the words that can follow it. */
export interface CommandNode {
  /** The words of the command, such as `key create`; empty for formctl itself. */
  path: string
  commands: { name: string; description: string }[]
  options: CompletedOption[]
  /** Possible values of its first argument; empty if any text is valid. */
  choices: readonly string[]
}

/** All commands of a program, depth first. */
export const commandTree = (command: Command, path = ''): CommandNode[] => {
  const help = command.createHelp()
  const commands = help.visibleCommands(command)
  // Only the program itself has --version.
  const inherited = help.visibleGlobalOptions(command).filter(({ long }) => long !== '--version')
  const options = [...help.visibleOptions(command), ...inherited]
  const node: CommandNode = {
    path,
    commands: commands.map((each) => ({ name: each.name(), description: each.description() })),
    options: options.map((option) => ({
      name: option.long!.slice(2),
      description: option.description,
      takesValue: Boolean(option.required || option.optional),
      choices: option.argChoices ?? [],
    })),
    choices: command.registeredArguments[0]?.argChoices ?? [],
  }
  const below = commands
    .filter((each) => each.name() !== 'help')
    .flatMap((each) => commandTree(each, `${path} ${each.name()}`.trim()))
  return [node, ...below]
}
