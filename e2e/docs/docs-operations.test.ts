import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { call, npmStart, npmStop } from '../operations/npm-start.ts'
import { publishable } from '../system.ts'

const formctl = join(import.meta.dirname, '../../formctl/src/formctl.ts')
const page = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8')
const [, section = ''] = /^## Backup and restore\n(.*?)^## /ms.exec(page)!
const script = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!).join('\n')

describe('the backup of docs/operations.md', () => {
  it('runs beside the system, and a system on the restored folder has every form and the same key', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'docs-operations-'))
    const dataDir = join(folder, '.data')
    mkdirSync(dataDir, { mode: 0o700 })
    try {
      const before = await npmStart(dataDir)
      const forms = `/organizations/${before.slug}/forms`
      const created = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          call(before, 'POST', forms, { form: publishable({ name: `Form ${index}` }) }),
        ),
      )
      const { publicId } = created[0]!.body
      await call(before, 'POST', `${forms}/${publicId}/publish`)
      const expected = await call(before, 'GET', `${forms}?pageSize=100&orderBy=name`)

      await promisify(execFile)(
        'sh',
        ['-euc', script.replaceAll('npm run -s formctl --', `${process.execPath} ${formctl}`)],
        // Not the folder or stores of whoever runs the tests.
        { cwd: folder, env: { PATH: process.env.PATH } },
      )
      await npmStop(before)
      const after = await npmStart(join(folder, 'restored'))

      expect(after.apiKey).toBe(before.apiKey)
      expect((await call(after, 'GET', `${forms}?pageSize=100&orderBy=name`)).body).toEqual(expected.body)
      expect((await call(after, 'GET', `${forms}/${publicId}/revisions/live`)).status).toBe(200)
      await npmStop(after)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
