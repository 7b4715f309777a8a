import type { CommandNode, CompletedOption } from './command-tree.ts'

const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`

const optionLine = (at: string, { name, description, takesValue, choices }: CompletedOption): string => {
  const value = choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : takesValue ? ' -r' : ''
  return `complete -c formctl -n ${quoted(at)} -l ${name}${value} -d ${quoted(description)}`
}

/** Script for fish 3 and newer. */
export const fishCompletion = (nodes: CommandNode[]): string => {
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
