import { Argument, type Command } from 'commander'
import { addExamples } from '../cli/examples.ts'
import { printOutcome } from '../cli/outcome.ts'

interface CompletedOption {
  /** Without its dashes. */
  name: string
  description: string
  takesValue: boolean
  /** Its possible values; empty if any text is valid. */
  choices: readonly string[]
}

/** A command, and the words that can follow it. */
interface CommandNode {
  /** The words of the command, such as `key create`; empty for formctl itself. */
  path: string
  commands: { name: string; description: string }[]
  options: CompletedOption[]
  /** Possible values of its first argument; empty if any text is valid. */
  choices: readonly string[]
}

/** All commands of a program, depth first. */
const commandTree = (command: Command, path = ''): CommandNode[] => {
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

/** Arms of a `case` on the path and the previous word: the values of each option that takes one. */
const valueArms = (nodes: CommandNode[], then: (choices: readonly string[]) => string): string =>
  nodes
    .flatMap(({ path, options }) =>
      options
        .filter(({ takesValue }) => takesValue)
        .map(({ name, choices }) => `    '${path} --${name}') ${then(choices)} ;;`),
    )
    .join('\n')

/** Arms of a `case` on the path: the words that can come next. */
const wordArms = (nodes: CommandNode[], then: (words: string[]) => string): string =>
  nodes
    .map(({ path, commands, options, choices }) => {
      const words = [
        ...commands.map(({ name }) => name),
        ...choices,
        ...options.map(({ name }) => `--${name}`),
      ]
      return `    '${path}') ${then(words)} ;;`
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
${valueArms(nodes, (choices) => `candidates='${choices.join(' ')}'`)}
    *) case "$place" in
${wordArms(nodes, (words) => `candidates='${words.join(' ')}'`)}
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
${valueArms(nodes, (choices) => `candidates=(${choices.join(' ')})`)}
    *) case "$place" in
${wordArms(nodes, (words) => `candidates=(${words.join(' ')})`)}
    esac ;;
  esac
  if (( $#candidates )); then compadd -- $candidates; else _files; fi
}
compdef _formctl formctl
`

const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`

const optionLine = (at: string, { name, description, takesValue, choices }: CompletedOption): string => {
  const value = choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : takesValue ? ' -r' : ''
  return `complete -c formctl -n ${quoted(at)} -l ${name}${value} -d ${quoted(description)}`
}

/** Script for fish 3 and newer. */
const fishCompletion = (nodes: CommandNode[]): string => {
  const lines = nodes.flatMap(({ path, commands, options, choices }) => {
    const at = `__formctl_at ${quoted(path)}`
    const words = [...commands, ...choices.map((name) => ({ name, description: '' }))]
    return [
      ...words.map(
        ({ name, description }) =>
          `complete -c formctl -f -n ${quoted(at)} -a ${name} -d ${quoted(description)}`,
      ),
      ...options.map((option) => optionLine(at, option)),
    ]
  })
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
type Shell = keyof typeof scripts

/** The scripts contain all words, so that completion starts no process. */
export const addCompletionCommand = (formctl: Command): void => {
  const completion = formctl
    .command('completion')
    .description('print a shell script that completes commands and options')
    .addArgument(new Argument('<shell>', 'the shell of the script').choices(Object.keys(scripts)))
    .action(async function (this: Command, shell: Shell) {
      const script = scripts[shell](commandTree(formctl))
      printOutcome(this, { json: { script }, text: script.trimEnd() })
    })
  addExamples(completion, 'completion bash', 'completion zsh', 'completion fish')
}
