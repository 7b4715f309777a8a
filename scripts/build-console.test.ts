import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import config from '../console/vite.config.ts'
import { buildConsole, sources } from './build-console.ts'

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

    const leftover = `${folder}-interrupted`
    mkdirSync(leftover)
    for (const path of [page, leftover]) utimesSync(path, new Date(0), new Date(0))
    await Promise.all([buildConsole(dist), buildConsole(dist)])
    expect(timeOfBuild()).toBeGreaterThan(first)
    expect(readFileSync(page, 'utf8')).toContain('<div id="app">')
    expect(existsSync(leftover)).toBe(false)
  })

  it('compares the time of each page', () => {
    const root = join(import.meta.dirname, '..')
    expect(sources.map((source) => join(root, source))).toEqual(
      expect.arrayContaining(config.build!.rolldownOptions!.input as string[]),
    )
  })
})
