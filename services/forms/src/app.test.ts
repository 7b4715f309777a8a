import { expect, it } from 'vitest'
import { startForms } from './testing/start-forms.ts'

it('the forms service is ready while its store responds', async () => {
  await using service = await startForms()
  expect((await service.app.inject('/readyz')).statusCode).toBe(200)

  await service.forms.close()

  expect((await service.app.inject('/readyz')).statusCode).toBe(503)
  expect((await service.app.inject('/healthz')).statusCode).toBe(200)
})
