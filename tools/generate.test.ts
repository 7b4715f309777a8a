import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tables } from './docs/tables.ts'
import { filterParser, generatedFiles } from './generate.ts'

const root = join(import.meta.dirname, '..')
const files = await generatedFiles()

describe('npm run generate', () => {
  it.each(files)('has written %s', (path, text) => {
    expect(readFileSync(join(root, path), 'utf8')).toBe(text)
  })

  it('rejects a parser that cannot be loaded, as the next run loads it', () => {
    expect(() => filterParser('rule = . { return ) }')).toThrow(SyntaxError)
  })

  it('uses every table once', () => {
    const pages = files.filter(([path]) => path.endsWith('.md'))
    const markers = pages.flatMap(([, text]) => [...text.matchAll(/<!-- table: (.+) -->/g)])

    expect(markers.map(([, name]) => name).sort()).toEqual(Object.keys(tables).sort())
  })
})
