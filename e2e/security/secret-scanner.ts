import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** Patterns of secrets. */
const secretPatterns = {
  'an API key': /fms_[A-Za-z0-9_-]{43}/,
  'an identity token': /eyJ[\w-]{10,}\.[\w-]+/,
  'the password of a URL': /\w:\/\/[^\s/:@"]*:[^\s/:@"]+@/,
}

/** Scans the output of processes for secrets. */
export interface SecretScanner {
  /** One message per line that contains a secret, with the secret removed. */
  readonly findings: string[]
  /** Number of scanned lines by process name. */
  readonly lines: Map<string, number>
  scan(source: string, line: string): void
  /** Scans the output of a process. Copies fatal log lines, and lines that are not log lines, to stderr. */
  follow(source: string, child: ChildProcess): void
  /** Waits for the end of all followed output. @throws {Error} listing every finding. */
  assertNoSecrets(): Promise<void>
}

/** @param secrets further secrets to find, by the name that findings mention. */
export const createSecretScanner = (secrets: Record<string, string>): SecretScanner => {
  const findings: string[] = []
  const lines = new Map<string, number>()
  const ended: Promise<unknown>[] = []

  const scan = (source: string, line: string) => {
    lines.set(source, (lines.get(source) ?? 0) + 1)
    for (const [name, pattern] of Object.entries(secretPatterns)) {
      if (pattern.test(line)) findings.push(`${source} wrote ${name}: ${line.replace(pattern, '[…]')}`)
    }
    for (const [name, secret] of Object.entries(secrets)) {
      if (line.includes(secret)) findings.push(`${source} wrote ${name}: ${line.replaceAll(secret, '[…]')}`)
    }
  }

  return {
    findings,
    lines,
    scan,
    follow(source, child) {
      for (const output of [child.stdout!, child.stderr!]) {
        const reader = createInterface({ input: output })
        reader.on('line', (line) => {
          scan(source, line)
          if (!line.startsWith('{"level":') || line.startsWith('{"level":60'))
            process.stderr.write(`${line}\n`)
        })
        ended.push(once(reader, 'close'))
      }
    },
    async assertNoSecrets() {
      await Promise.all(ended)
      if (findings.length > 0) throw new Error(`Secrets in the logs:\n${findings.join('\n')}`)
    },
  }
}
