import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { register } from 'prom-client'
import { expect, it } from 'vitest'
import { reportBackups } from './report-backups.ts'

const reported = () => register.getSingleMetricAsString('backup_last_success_timestamp_seconds')

it('exports the time of the last backup that formctl has noted beside the store; 0 for none', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'backups-'))
  reportBackups('mongodb://127.0.0.1/forms')
  expect(await reported()).not.toMatch(/^backup_last/m)

  reportBackups(`sqlite:${join(folder.path, 'forms.db')}`)
  expect(await reported()).toMatch(/^backup_last_success_timestamp_seconds 0$/m)

  const createTime = '2026-11-23T02:30:00.000Z'
  await writeFile(join(folder.path, 'last-backup.json'), JSON.stringify({ createTime, folder: '/backups' }))
  expect(await reported()).toMatch(
    new RegExp(`^backup_last_success_timestamp_seconds ${Date.parse(createTime) / 1000}$`, 'm'),
  )
})
