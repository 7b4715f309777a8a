import type { DeletedForm } from '@fms/contracts'
import { describe, expect, it, vi } from 'vitest'
import { newApiForm } from '../testing/api-form.ts'
import { withFakeApi } from '../testing/fake-api.ts'
import { runFormctl, type TerminalInput } from '../testing/run-formctl.ts'

const form = newApiForm({ publicId: 'k3JxV9bQ2a', name: 'Intake' })
const formId = form.path.split('/').at(-1)!
const requestId = '0d2e6a0f-3f0e-4bb6-8a54-0f6d3a1b9e33'
const collection = '/v2/organizations/acme/deletedForms'

const api = withFakeApi(({ method }) => ({ body: method === 'DELETE' ? {} : form }))

const deleted = (args: string[], terminal?: TerminalInput) =>
  runFormctl(['deleted', ...args, '--organization', 'acme'], terminal)

describe('with FORMS_API_URL', () => {
  it('formctl deleted list lists all pages', async () => {
    const listed: DeletedForm = {
      path: `organizations/5b0f3a52-6c1e-4f0e-9d3c-0a8d1f7b2c44/deletedForms/${formId}`,
      publicId: form.publicId,
      name: form.name,
      deleteTime: '2026-11-20T10:00:00.000Z',
      purgeTime: '2026-12-20T10:00:00.000Z',
      deleter: '',
    }
    const second = { ...listed, publicId: 'second0000' }
    api.respond = ({ url }) => {
      const isSecond = url!.includes('pageToken=next')
      const nextPageToken = isSecond ? '' : 'next'
      return { body: { deletedForms: [isSecond ? second : listed], nextPageToken, totalSize: 2 } }
    }

    const { stdout } = await deleted(['list'])

    const { path: _, ...rest } = listed
    expect(JSON.parse(stdout)).toEqual({
      deletedForms: [
        { id: formId, ...rest },
        { id: formId, ...rest, publicId: 'second0000' },
      ],
    })
    expect((await deleted(['list'], { isOutputTty: true })).stdout).toMatch(
      /k3JxV9bQ2a +Intake +2026-11-20 10:00 +an operator +2026-12-20 10:00/,
    )
  })

  it('formctl deleted undelete restores a form', async () => {
    const options = ['--request-id', requestId, '--if-match', '"2-live.1"', '--validate-only']

    expect(await deleted(['undelete', formId])).toMatchObject({
      code: 0,
      stdout: 'Restored the form k3JxV9bQ2a "Intake".\n',
    })
    await deleted(['undelete', formId, ...options])

    const url = `${collection}/${formId}/undelete`
    expect(api.received).toMatchObject([
      { method: 'POST', url, body: { requestId: expect.any(String), validateOnly: false } },
      { method: 'POST', url, ifMatch: '"2-live.1"', body: { requestId, validateOnly: true } },
    ])
  })

  it('formctl deleted purge asks on a terminal, then purges', async () => {
    const refused = await deleted(['purge', 'k3JxV9bQ2a'], { typed: 'n' })
    expect(refused).toMatchObject({ code: 1, prompts: ['Purge the form k3JxV9bQ2a permanently? [y/N] '] })
    expect(api.received).toEqual([])

    const { stdout } = await deleted([
      ...['purge', 'k3JxV9bQ2a', '--yes', '--json', '--request-id', requestId, '--if-match', '*'],
    ])

    expect(JSON.parse(stdout)).toEqual({
      form: 'k3JxV9bQ2a',
      requestId,
      replayed: false,
      validateOnly: false,
    })
    expect(api.received).toEqual([
      {
        method: 'DELETE',
        url: `${collection}/k3JxV9bQ2a?requestId=${requestId}`,
        key: 'fms_mine',
        ifMatch: '*',
        body: '',
      },
    ])
  })

  it('formctl deleted purge --validate-only asks nothing', async () => {
    const { prompts, stdout } = await deleted(['purge', formId, '--validate-only'], { typed: 'n' })

    expect([prompts, stdout]).toEqual([[], expect.stringContaining('Nothing was changed.')])
    expect(api.received).toMatchObject([{ url: expect.stringMatching(/&validateOnly=true$/) }])
  })
})

describe('without FORMS_API_URL', () => {
  it.each([
    ['undelete', '--validate-only'],
    ['undelete', '--if-match', '*'],
    ['purge', '--request-id', requestId],
  ])('formctl deleted %s rejects %s', async (command, ...options) => {
    vi.stubEnv('FORMS_API_URL', '')

    const { code, stderr } = await deleted([command, formId, ...options])

    expect([code, stderr]).toEqual([2, expect.stringContaining(`${options[0]} works only by the API`)])
  })
})
