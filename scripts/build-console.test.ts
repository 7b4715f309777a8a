import { readFileSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildConsole } from './build-console.ts'

const page = join(import.meta.dirname, '../console/dist/index.html')
const timeOfBuild = () => statSync(page).mtimeMs

describe('buildConsole', () => {
  it('builds the console when its sources are newer, and only then', async () => {
    expect(await buildConsole()).toBe(true)
    const first = timeOfBuild()

    await buildConsole()
    expect(timeOfBuild()).toBe(first)

    utimesSync(page, new Date(0), new Date(0))
    await Promise.all([buildConsole(), buildConsole()])
    expect(timeOfBuild()).toBeGreaterThan(first)
    expect(readFileSync(page, 'utf8')).toContain('<div id="app">')
  })
})
