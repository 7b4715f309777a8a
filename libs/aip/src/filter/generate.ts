import { readFileSync, writeFileSync } from 'node:fs'
import peggy from 'peggy'

const file = (name: string) => new URL(name, import.meta.url)

/** Generates the parser of `grammar.peggy` as an ES module. `node generate.ts` writes it to `grammar.generated.js`. */
export const generateParser = (): string =>
  peggy.generate(readFileSync(file('./grammar.peggy'), 'utf8'), { output: 'source', format: 'es' })

if (import.meta.main) writeFileSync(file('./grammar.generated.js'), generateParser())
