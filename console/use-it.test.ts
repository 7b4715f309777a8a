import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { programLines } from './src/use-it/lines.ts'

const root = join(import.meta.dirname, '..')
const address = { baseUrl: 'http://127.0.0.1:8080/v2', organization: 'demo', form: 'Ab3dE6gH9j' }

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'use-it-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The errors of the compiler for a program, with the strict options of this repository. */
const compileErrors = (program: string): string => {
  const compilerOptions = {
    typeRoots: [join(root, 'node_modules/@types')],
    paths: { '@fms/client': [join(root, 'libs/client/src/index.ts')] },
  }
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions,
    include: [],
    files: ['program.mts'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  writeFileSync(join(folder, 'program.mts'), program)
  try {
    return execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' })
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

describe('the lines of the page Use it', () => {
  it.each(['read', 'change'] as const)('to %s are a program that compiles', (kind) => {
    const program = programLines(address)[kind]

    expect(compileErrors(program)).toBe('')
    expect(compileErrors(program.replace('API_KEY!', 'API_KEY'))).toContain('TS2322')
  })
})
