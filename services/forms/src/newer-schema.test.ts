import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrateBeyondThisRelease } from '@fms/testkit/newer-schema'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { startForms } from './testing/start-forms.ts'

it('responds 503 with the reason, and is not ready, once a newer release has migrated the store', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'forms-newer-'))
  const storeUrl = `sqlite:${join(directory, 'forms.db')}`
  const lines: string[] = []
  const logger = pino({ level: 'info' }, { write: (line) => lines.push(line) })
  {
    await using service = await startForms({ logger, storeUrl })
    const url = `/organizations/${service.organizationId}/forms`
    expect((await service.send({ method: 'GET', url })).statusCode).toBe(200)
    expect((await service.app.inject('/readyz')).statusCode).toBe(200)

    await migrateBeyondThisRelease(storeUrl, 'forms')

    const payload = { form: { name: 'Intake' } }
    for (const request of [{ method: 'POST', url, payload } as const, { method: 'GET', url } as const]) {
      const response = await service.send(request)
      expect(response.statusCode).toBe(503)
      expect(response.headers['retry-after']).toBe('1')
      expect(response.json().error).toMatchObject({
        status: 'UNAVAILABLE',
        message: expect.stringMatching(/version 999 .* This release has version \d+\. Upgrade this service/),
        details: expect.arrayContaining([expect.objectContaining({ reason: 'STORE_SCHEMA_TOO_NEW' })]),
      })
    }
    expect((await service.app.inject('/readyz')).statusCode).toBe(503)
  }
  expect(lines.join('')).toMatch(/"reason":"The forms\.db store has version 999 [^"]*","msg":"not ready"/)
  rmSync(directory, { recursive: true })
})
