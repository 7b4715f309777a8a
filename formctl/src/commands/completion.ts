import { Argument, type Command } from 'commander'
import { bashCompletion } from '../completion/bash.ts'
import { commandTree } from '../completion/command-tree.ts'
import { fishCompletion } from '../completion/fish.ts'
import { zshCompletion } from '../completion/zsh.ts'
import { withExamples } from '../examples.ts'
import { printOutcome } from '../outcome.ts'

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }
type Shell = keyof typeof scripts

/** The scripts hold all words themselves: completing starts no process, and so takes no time. */
export const addCompletionCommand = (formctl: Command): void => {
  const completion = formctl
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'whose script').choices(Object.keys(scripts)))
    .action(async function (this: Command, shell: Shell) {
      const script = scripts[shell](commandTree(formctl))
      printOutcome(this, { json: { script }, text: script.trimEnd() })
    })
  withExamples(completion, 'completion bash', 'completion zsh', 'completion fish')
}
