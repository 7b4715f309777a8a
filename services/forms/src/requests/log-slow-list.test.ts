import { pino } from 'pino'
import { afterEach, expect, it, vi } from 'vitest'
import { startForms } from '../testing/start-forms.ts'
import { slowListMs } from './log-slow-list.ts'

afterEach(() => void vi.useRealTimers())

/** A service whose lists take as long as the test says, and what it logs at level info. */
const startLogging = async () => {
  const lines: Record<string, unknown>[] = []
  const logger = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) })
  const service = await startForms({ logger })
  vi.useFakeTimers({ toFake: ['performance'] })
  const takes = (waitedMs: number, workedMs: number, error?: Error) =>
    vi.spyOn(service.forms, 'list').mockImplementationOnce(async (_, { report } = {}) => {
      Object.assign(report!, { plan: 'forms_by_name', rows: 320, waitedMs })
      vi.advanceTimersByTime(waitedMs + workedMs)
      if (error) throw error
      return { forms: [], totalSize: 0 }
    })
  const list = (query = '') => service.send({ url: `/organizations/${service.organizationId}/forms${query}` })
  return { service, lines, takes, list }
}

it('logs how a slow list was read, with waiting and working as two figures', async () => {
  const { service: started, lines, takes, list } = await startLogging()
  await using service = started
  takes(200, 450)

  await list('?filter=name%20%3A%20rep&orderBy=name&pageSize=20&skip=40')

  expect(lines).toEqual([
    expect.objectContaining({
      level: 30,
      msg: 'slow list',
      organization: service.organizationId,
      user: expect.any(String),
      filter: 'name : rep',
      order_by: 'name',
      page_size: '20',
      skip: '40',
      plan: 'forms_by_name',
      rows: 320,
      waited_ms: 200,
      worked_ms: 450,
    }),
  ])
})

it('logs a slow list that fails', async () => {
  const { service: started, lines, takes, list } = await startLogging()
  await using _ = started
  takes(0, slowListMs, new Error('too late'))

  expect((await list()).statusCode).toBe(500)

  expect(lines).toContainEqual(expect.objectContaining({ msg: 'slow list', worked_ms: slowListMs }))
})

it('logs nothing of another list', async () => {
  const { service: started, lines, takes, list } = await startLogging()
  await using _ = started
  takes(200, slowListMs - 201)

  expect((await list()).statusCode).toBe(200)

  expect(lines).toEqual([])
})
