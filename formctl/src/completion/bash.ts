import type { CommandNode } from './command-tree.ts'

/** Arms of a `case` on the path and the previous word: the values of each option that takes one. */
export const valueArms = (nodes: CommandNode[], then: (choices: readonly string[]) => string): string =>
  nodes
    .flatMap(({ path, options }) =>
      options
        .filter(({ takesValue }) => takesValue)
        .map(({ name, choices }) => `    '${path} --${name}') ${then(choices)} ;;`),
    )
    .join('\n')

/** Arms of a `case` on the path: the words that can come next. */
export const wordArms = (nodes: CommandNode[], then: (words: string[]) => string): string =>
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
export const knownPaths = (nodes: CommandNode[]): string =>
  nodes
    .slice(1)
    .map(({ path }) => `'${path}'`)
    .join('|')

/** Script for bash 3.2 and newer, without dependencies. Falls back to file names. */
export const bashCompletion = (nodes: CommandNode[]): string => `# bash completion for formctl
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
