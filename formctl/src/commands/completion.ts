import { Argument, type Command as BaseCommand, type Option } from 'commander'
import type { Command } from '../cli/command.ts'
import { printOutcome } from '../cli/outcome.ts'

/** A command, and the words that can follow it. */
interface CommandNode {
  /** The words of the command, such as `key create`; empty for formctl itself. */
  path: string
  commands: BaseCommand[]
  options: Option[]
  /** Possible values of its first argument; empty if any text is valid. */
  choices: readonly string[]
}

/** All commands of a program, depth first. */
const commandTree = (command: BaseCommand, path = ''): CommandNode[] => {
  const help = command.createHelp()
  const commands = help.visibleCommands(command)
  // Only the program itself has --version.
  const inherited = help.visibleGlobalOptions(command).filter(({ long }) => long !== '--version')
  const options = [...help.visibleOptions(command), ...inherited]
  const below = commands
    .filter((each) => each.name() !== 'help')
    .flatMap((each) => commandTree(each, `${path} ${each.name()}`.trim()))
  return [{ path, commands, options, choices: command.registeredArguments[0]?.argChoices ?? [] }, ...below]
}

/** Arms of a `case` on the path and the previous word: the values of each option that takes one. */
const valueArms = (nodes: CommandNode[], then: (choices: string) => string): string =>
  nodes
    .flatMap(({ path, options }) =>
      options
        .filter(({ required }) => required)
        .map(({ long, argChoices = [] }) => `    '${path} ${long}') ${then(argChoices.join(' '))} ;;`),
    )
    .join('\n')

/** Arms of a `case` on the path: the words that can come next. */
const wordArms = (nodes: CommandNode[], then: (words: string) => string): string =>
  nodes
    .map(({ path, commands, options, choices }) => {
      const words = [...commands.map((each) => each.name()), ...choices, ...options.map(({ long }) => long)]
      return `    '${path}') ${then(words.join(' '))} ;;`
    })
    .join('\n')

/** All paths except the program's own, as alternatives of a `case`. */
const knownPaths = (nodes: CommandNode[]): string =>
  nodes
    .slice(1)
    .map(({ path }) => `'${path}'`)
    .join('|')

/** Script for bash 3.2 and newer, without dependencies. Falls back to file names. */
const bashCompletion = (nodes: CommandNode[]): string => `# bash completion for formctl
_formctl() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local place='' word candidates=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    word="\${place:+$place }$word"
    case "$word" in
    ${knownPaths(nodes)}) place="$word" ;;
    esac
  done
  case "$place $previous" in
${valueArms(nodes, (choices) => `candidates='${choices}'`)}
    *) case "$place" in
${wordArms(nodes, (words) => `candidates='${words}'`)}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
}
complete -o default -F _formctl formctl
`

/** Script for zsh after compinit: sourced, or as the file `_formctl` on the fpath. */
const zshCompletion = (nodes: CommandNode[]): string => `#compdef formctl
_formctl() {
  local previous="$words[CURRENT-1]" place='' word
  local -a candidates
  for word in "\${(@)words[2,CURRENT-1]}"; do
    word="\${place:+$place }$word"
    case "$word" in
    (${knownPaths(nodes)}) place="$word" ;;
    esac
  done
  case "$place $previous" in
${valueArms(nodes, (choices) => `candidates=(${choices})`)}
    *) case "$place" in
${wordArms(nodes, (words) => `candidates=(${words})`)}
    esac ;;
  esac
  if (( $#candidates )); then compadd -- $candidates; else _files; fi
}
compdef _formctl formctl
`

const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`

const optionLine = ({ long, required, argChoices, description }: Option): string => {
  const value = argChoices ? ` -x -a ${quoted(argChoices.join(' '))}` : required ? ' -r' : ''
  return `-l ${long!.slice(2)}${value} -d ${quoted(description)}`
}

/** Script for fish 3 and newer. */
const fishCompletion = (nodes: CommandNode[]): string => {
  const lines = nodes.flatMap(({ path, commands, options, choices }) =>
    [
      ...commands.map((each) => `-f -a ${each.name()} -d ${quoted(each.description())}`),
      ...choices.map((choice) => `-f -a ${choice}`),
      ...options.map(optionLine),
    ].map((line) => `complete -c formctl -n ${quoted(`__formctl_at ${quoted(path)}`)} ${line}`),
  )
  const paths = nodes.slice(1).map(({ path }) => quoted(path))
  return `# fish completion for formctl
function __formctl_at
  set -l place ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$place $word")
    contains -- $next ${paths.join(' ')}; and set place $next
  end
  test "$place" = "$argv[1]"
end
${lines.join('\n')}
`
}

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }

/** The scripts contain all words: completion libraries (omelette, tabtab) start the program at each Tab. */
export const addCompletionCommand = (formctl: Command): void => {
  formctl
    .command('completion')
    .description('print a shell script that completes commands and options')
    .addArgument(new Argument('<shell>', 'the shell of the script').choices(Object.keys(scripts)))
    .action(async function (this: Command, shell: keyof typeof scripts) {
      const script = scripts[shell](commandTree(formctl))
      printOutcome(this, { json: { script }, text: script.trimEnd() })
    })
    .examples('completion bash', 'completion zsh', 'completion fish')
}
