import { knownPaths, valueArms, wordArms } from './bash.ts'
import type { CommandNode } from './command-tree.ts'

/** Script for zsh after compinit: sourced, or as the file `_formctl` on the fpath. */
export const zshCompletion = (nodes: CommandNode[]): string => `#compdef formctl
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
