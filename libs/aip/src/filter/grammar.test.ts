import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { generateParser } from './generate.ts'

it('is generated from grammar.peggy as it stands (node generate.ts)', () => {
  const committed = readFileSync(new URL('./grammar.generated.js', import.meta.url), 'utf8')
  expect(committed === generateParser()).toBe(true)
})
