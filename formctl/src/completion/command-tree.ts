import type { Command } from 'commander'

export interface CompletedOption {
  /** Without its dashes. */
  name: string
  description: string
  takesValue: boolean
  /** The values it can have; empty where any text will do. */
  choices: readonly string[]
}

/** A word of the command line after which something can be completed. */
export interface CommandNode {
  /** The words up to here, such as `key create`; empty for formctl itself. */
  path: string
  commands: { name: string; description: string }[]
  options: CompletedOption[]
  /** The values of its first argument; empty where any text will do. */
  choices: readonly string[]
}

/** Every command of a program, from the top. */
export const commandTree = (command: Command, path = ''): CommandNode[] => {
  const help = command.createHelp()
  const commands = help.visibleCommands(command)
  // The version is printed by the program alone.
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
