import { Command as BaseCommand } from 'commander'
import { type Terminal, withoutControlCharacters } from './terminal.ts'

/** A command of formctl. Subcommands have the terminal of their parent. */
export class Command extends BaseCommand {
  readonly terminal: Terminal

  constructor(terminal: Terminal, name?: string) {
    super(name)
    this.terminal = terminal
  }

  override createCommand(name?: string): Command {
    return new Command(this.terminal, name)
  }

  /** Adds examples to the help, of which a test runs each. @param lines without `formctl`. */
  examples(...lines: string[]): this {
    return this.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ formctl ${line}`).join('\n')}`)
  }

  get wantsJson(): boolean {
    return this.optsWithGlobals<{ json?: boolean }>().json === true
  }

  /** Prompts for confirmation on a terminal, unless `--yes` is given. @throws {Error} unless the input is y or yes. */
  async confirm(prompt: string): Promise<void> {
    if (this.#hasYes || !this.terminal.isInputTty) return
    const input = await this.terminal.prompt(`${withoutControlCharacters(prompt)} [y/N] `)
    if (!/^y(es)?$/i.test(input.trim())) throw new Error('Nothing was changed.')
  }

  /** As {@link confirm}, for a delete of the work of other people: without a terminal it requires `--yes`. */
  async requireConfirmation(prompt: string): Promise<void> {
    if (!this.#hasYes && !this.terminal.isInputTty) {
      throw new Error(`Nothing was changed, since stdin is not a terminal. Add --yes to confirm: ${prompt}`)
    }
    await this.confirm(prompt)
  }

  get #hasYes(): boolean {
    return this.opts<{ yes?: boolean }>().yes === true
  }
}

/** Option of commands that cannot be undone. */
export const yesOption = ['-y, --yes', 'skip the confirmation; only a terminal prompts for it'] as const

/** The id of an API key in examples; the test replaces it. */
export const exampleKeyId = '5b0f3a52-6c1e-4f0e-9d3c-0a8d1f7b2c44'

/** The public id of a deleted form in examples. */
export const exampleDeletedForm = 'k3JxV9bQ2a'

/** The public id of a form in examples. */
export const exampleForm = 'Qx7Lm2RtZ0'
