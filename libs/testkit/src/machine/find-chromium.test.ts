import { chmodSync, mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { findChromium } from './find-chromium.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('findChromium', () => {
  it.each(['chromium', 'chromium-browser', 'google-chrome'])('finds %s on the PATH', (program) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'chromium-'))
    const file = join(folder.path, program)
    writeFileSync(file, '')
    vi.stubEnv('CHROMIUM', undefined)
    vi.stubEnv('PATH', ['/nonexistent', folder.path].join(delimiter))

    expect(findChromium()).toBeUndefined()
    chmodSync(file, 0o755)
    expect(findChromium()).toBe(file)
  })

  it('prefers CHROMIUM, and finds none if that is empty', () => {
    vi.stubEnv('CHROMIUM', '/opt/chromium')
    expect(findChromium()).toBe('/opt/chromium')
    vi.stubEnv('CHROMIUM', '')
    expect(findChromium()).toBeUndefined()
  })
})
