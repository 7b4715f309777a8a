import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** What is secret by its looks: API keys, identity tokens, a URL's password. */
const secretShapes = {
  'an API key': /fms_[A-Za-z0-9_-]{43}/,
  'an identity token': /eyJ[\w-]{10,}\.[\w-]+/,
  'the password of a URL': /\w:\/\/[^\s/:@"]*:[^\s/:@"]+@/,
}

export interface LeakWatch {
  /** Says each line that holds a secret, with the secret taken out, and what it was. */
  readonly leaks: string[]
  /** How many lines each process wrote. */
  readonly lines: Map<string, number>
  look(source: string, line: string): void
  /** Reads what a process writes. What nobody expects, a fatal line or one that is no log line, is passed on. */
  follow(source: string, child: ChildProcess): void
  /** @throws {Error} naming every leak. Call it when the processes have ended. */
  assertNone(): Promise<void>
}

/** Looks for secrets in everything that processes write: those of a telling shape, and `secrets`, by their names. */
export const createLeakWatch = (secrets: Record<string, string>): LeakWatch => {
  const leaks: string[] = []
  const lines = new Map<string, number>()
  const ended: Promise<unknown>[] = []

  const look = (source: string, line: string) => {
    lines.set(source, (lines.get(source) ?? 0) + 1)
    for (const [name, shape] of Object.entries(secretShapes)) {
      if (shape.test(line)) leaks.push(`${source} wrote ${name}: ${line.replace(shape, '[…]')}`)
    }
    for (const [name, secret] of Object.entries(secrets)) {
      if (line.includes(secret)) leaks.push(`${source} wrote ${name}: ${line.replaceAll(secret, '[…]')}`)
    }
  }

  return {
    leaks,
    lines,
    look,
    follow(source, child) {
      for (const output of [child.stdout!, child.stderr!]) {
        const reader = createInterface({ input: output })
        reader.on('line', (line) => {
          look(source, line)
          if (!line.startsWith('{"level":') || line.startsWith('{"level":60'))
            process.stderr.write(`${line}\n`)
        })
        ended.push(once(reader, 'close'))
      }
    },
    async assertNone() {
      await Promise.all(ended)
      if (leaks.length > 0) throw new Error(`Secrets in the logs:\n${leaks.join('\n')}`)
    },
  }
}
