import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { buildConsole } from './build-console.ts'

let folder: string
let page: string

beforeEach(() => {
  // In the clone: a build is moved there, which works within one file system only.
  folder = mkdtempSync(join(import.meta.dirname, '../node_modules/.console-test-'))
  page = join(folder, 'dist/index.html')
})
afterEach(() => rmSync(folder, { recursive: true }))

const timeOfBuild = () => statSync(page).mtimeMs

describe('buildConsole', () => {
  it('builds the console when its sources are newer, and only then', async () => {
    const dist = join(folder, 'dist')
    expect(await buildConsole(dist)).toBe(true)
    const first = timeOfBuild()

    await buildConsole(dist)
    expect(timeOfBuild()).toBe(first)

    utimesSync(page, new Date(0), new Date(0))
    await Promise.all([buildConsole(dist), buildConsole(dist)])
    expect(timeOfBuild()).toBeGreaterThan(first)
    expect(readFileSync(page, 'utf8')).toContain('<div id="app">')
  })
})
