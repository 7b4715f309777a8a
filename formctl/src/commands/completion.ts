import { Argument, type Command } from 'commander'
import { addExamples } from '../cli/examples.ts'
import { printOutcome } from '../cli/outcome.ts'
import { bashCompletion } from '../completion/bash.ts'
import { commandTree } from '../completion/command-tree.ts'
import { fishCompletion } from '../completion/fish.ts'
import { zshCompletion } from '../completion/zsh.ts'

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
