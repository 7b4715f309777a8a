import { mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ErrorBody, FormChanges } from '@fms/contracts'
import { describe, expect, it, vi } from 'vitest'
import { newApiForm } from '../testing/api-form.ts'
import { withFakeApi } from '../testing/fake-api.ts'
import { runFormctl } from '../testing/run-formctl.ts'

const form = newApiForm({ publicId: 'Qx7Lm2RtZ0', name: 'Intake', live: true })
const formId = form.path.split('/').at(-1)
const requestId = '0d2e6a0f-3f0e-4bb6-8a54-0f6d3a1b9e33'
const anyUuid = expect.stringMatching(/^[0-9a-f-]{36}$/)

const api = withFakeApi(() => ({ headers: { etag: '"3-live.0"' }, body: form }))

/** Runs `formctl forms …` for one form. */
const forms = (command: string, ...rest: string[]) =>
  runFormctl(['forms', command, '--organization', 'acme', '--form', 'Qx7Lm2RtZ0', ...rest])

const errorOf = (
  code: number,
  message: string,
  violations: { subject: string; description: string }[] = [],
) => ({
  status: code,
  body: {
    error: {
      code,
      status: code === 503 ? 'UNAVAILABLE' : 'FAILED_PRECONDITION',
      message,
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.PreconditionFailure',
          violations: violations.map((each) => ({ type: 'RULE', ...each })),
        },
      ],
    },
  } satisfies ErrorBody,
})

describe('formctl forms check', () => {
  const check = async (text: string, ...rest: string[]) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'check-'))
    const file = join(folder.path, 'form.json')
    writeFileSync(file, text)
    return { file, ...(await runFormctl(['forms', 'check', '--organization', 'acme', file, ...rest])) }
  }
  const found = {
    publishable: false,
    violations: [{ type: 'QUESTIONS', subject: 'form.steps', description: 'must hold a question' }],
    warnings: [{ field: 'form.steps[0].type', reason: 'TYPE_UNKNOWN', message: 'is unknown\u0007' }],
  }

  it.each([
    ['as a read returns it', '{"name": "Intake"}'],
    ['as the body of a create', '{"form": {"name": "Intake"}}'],
  ])('prints what the API finds in each file, with a form %s', async (_, text) => {
    api.respond = () => ({ body: found })

    const { file, code, stdout } = await check(text)

    expect(api.received).toMatchObject([
      { method: 'POST', url: '/v2/organizations/acme/forms/check', body: { form: { name: 'Intake' } } },
    ])
    expect({ code, lines: stdout.split('\n') }).toEqual({
      code: 0,
      lines: [
        `${file} cannot be published; 1 warnings.`,
        '  error: form.steps must hold a question',
        expect.stringMatching(/^ {2}warning: form\.steps\[0\]\.type is unknown.?$/u),
        '',
      ],
    })
  })

  it('prints JSON with --json', async () => {
    api.respond = () => ({ body: found })

    const { file, stdout } = await check('{}', '--json')

    expect(JSON.parse(stdout)).toEqual({ forms: [{ file, ...found }] })
  })

  it('names the file with a form that the API rejects', async () => {
    api.respond = () => errorOf(400, 'form.name must be a string.')

    const { file, code, stderr } = await check('{"name": 1}')

    expect({ code, stderr }).toEqual({ code: 1, stderr: `error: ${file}: form.name must be a string.\n` })
  })

  it('fails for a file that does not exist', async () => {
    const stderr = 'error: /nowhere/form.json cannot be read. Name a file with one form.\n'

    expect(
      await runFormctl(['forms', 'check', '--organization', 'acme', '/nowhere/form.json']),
    ).toMatchObject({
      code: 1,
      stdout: '',
      stderr,
    })
  })

  it('fails for a file that is not JSON', async () => {
    const { file, code, stderr } = await check('{')

    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${file} is not JSON`),
    })
    expect(api.received).toEqual([])
  })
})

describe.each([
  ['publish', [], 'publish', 'Published'],
  ['unpublish', [], 'unpublish', 'Unpublished'],
  ['rollback', ['--revision', 'live'], 'revisions/live/rollback', 'Rolled back'],
])('formctl forms %s', (command, required, path, past) => {
  it('sends a request with an id of its own', async () => {
    const { code, stdout } = await forms(command, ...required)
    await forms(command, ...required)

    expect([code, stdout]).toEqual([0, `${past} the form Qx7Lm2RtZ0 "Intake".\n`])
    expect(api.received[0]).toEqual({
      method: 'POST',
      url: `/v2/organizations/acme/forms/Qx7Lm2RtZ0/${path}`,
      key: 'fms_mine',
      ifMatch: undefined,
      body: { requestId: anyUuid, validateOnly: false },
    })
    expect(new Set(api.received.map(({ body }) => (body as { requestId: string }).requestId)).size).toBe(2)
  })

  it('sends the given request id, and prints whether it was carried out before', async () => {
    api.respond = () => ({ headers: { etag: '"3-live.0"', 'x-request-replayed': 'true' }, body: form })

    const repeated = await forms(command, ...required, '--request-id', requestId.toUpperCase(), '--json')
    const { stdout } = await forms(command, ...required, '--request-id', requestId)

    const etag = '"3-live.0"'
    expect(JSON.parse(repeated.stdout)).toEqual({
      ...{ id: formId, publicId: 'Qx7Lm2RtZ0', live: true, etag, requestId, replayed: true },
      validateOnly: false,
    })
    expect(stdout).toContain('was carried out before')
    expect(api.received).toMatchObject([{ body: { requestId } }, { body: { requestId } }])
  })

  it('sends If-Match and a dry run', async () => {
    api.respond = () => ({ body: form })

    const { stdout } = await forms(command, ...required, '--validate-only', '--if-match', '"3-live.0"')

    expect(stdout).toMatch(/^Nothing was changed\. The service would .* the form Qx7Lm2RtZ0 "Intake"\.\n$/)
    expect(api.received).toMatchObject([{ ifMatch: '"3-live.0"', body: { validateOnly: true } }])
  })

  it('says how to repeat a request that may have been carried out', async () => {
    api.respond = () => errorOf(503, 'Forms are busy.')
    const busy = await forms(command, ...required)
    const { requestId: sent } = api.received[0]!.body as { requestId: string }
    expect(busy).toMatchObject({
      code: 1,
      stderr: `error: Forms are busy.\nRepeat the command with --request-id ${sent}: it is carried out only once.\n`,
    })

    vi.stubEnv('FORMS_API_URL', 'http://127.0.0.1:1/v2')
    expect((await forms(command, ...required, '--request-id', requestId)).stderr).toContain(
      `Repeat the command with --request-id ${requestId}`,
    )
  })

  it('prints all violations of a refusal, and no advice to repeat it', async () => {
    const violations = ['form.steps[0]', 'form.i18n'].map((subject) => ({ subject, description: 'is wrong' }))
    api.respond = () => errorOf(400, 'Refused.', violations)

    expect(await forms(command, ...required)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'error: Refused.\n  form.steps[0] is wrong\n  form.i18n is wrong\n',
    })
  })

  it.each([
    ['--request-id', 'mine', 'It must be a UUID'],
    ['--if-match', '3-live.0', 'It must be an ETag with its quotes'],
  ])('rejects %s %s', async (option, value, message) => {
    const { code, stderr } = await forms(command, ...required, option, value)

    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
    expect(api.received).toEqual([])
  })
})

describe('formctl by the API', () => {
  it.each(['', '.', '..'])('sends no request for the form %j', async (ref) => {
    const { code, stderr } = await runFormctl([
      ...['forms', 'publish'],
      '--organization',
      'acme',
      '--form',
      ref,
    ])

    expect([code, stderr]).toEqual([1, `error: "${ref}" names nothing. Give an id, as the lists show it.\n`])
    expect(api.received).toEqual([])
  })

  it.each([
    ['FORMS_API_URL', 'nonsense', 'It must be the URL of the API, such as https://forms.example.com/v2.'],
    ['FORMS_API_URL', 'http://127.0.0.1:8080', 'It must be the URL of the API'],
    ['FORMS_API_KEY', 'fms_mine\r', 'It must be an API key, which begins with fms_, without white space.'],
    ['FORMS_API_KEY', 'mine', 'It must be an API key, which begins with fms_, without white space.'],
  ])('rejects %s %j', async (variable, value, message) => {
    vi.stubEnv(variable, value)

    const { code, stderr } = await forms('publish')

    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`error: ${variable} is not valid. ${message}`),
    ])
    expect(api.received).toEqual([])
  })
})

describe('formctl forms publish', () => {
  it('sends the note and whether breaking changes are refused', async () => {
    await forms('publish', '--note', 'New prices', '--refuse-breaking')

    expect(api.received).toMatchObject([{ body: { note: 'New prices', refuseBreaking: true } }])
  })
})

describe('formctl forms unpublish', () => {
  it('sends the note', async () => {
    await forms('unpublish', '--note', 'A question is missing')

    expect(api.received).toMatchObject([{ body: { note: 'A question is missing' } }])
  })
})

describe('formctl forms rollback', () => {
  it('requires a revision', async () => {
    const { code, stderr } = await forms('rollback')

    expect([code, stderr]).toEqual([2, expect.stringContaining('--revision')])
  })

  it('encodes references for the path', async () => {
    await runFormctl(['forms', 'rollback', '--organization', 'a/b', '--form', 'c?d', '--revision', 'e#f'])

    expect(api.received[0]!.url).toBe('/v2/organizations/a%2Fb/forms/c%3Fd/revisions/e%23f/rollback')
  })
})

describe('formctl forms changes', () => {
  const comparison: FormChanges = {
    from: `${form.path}/revisions/${requestId}`,
    to: form.path,
    changes: [
      {
        kind: 'REMOVED',
        field: 'form.steps[1]',
        fromPointer: '/steps/1',
        before: { type: 'text', key: 'why', title: 'What should we change about our opening hours?' },
        breaking: 'STEP_REMOVED',
      },
      {
        kind: 'CHANGED',
        field: 'form.name',
        fromPointer: '/name',
        toPointer: '/name',
        before: 'A',
        after: 'B',
      },
      { kind: 'MOVED', field: 'form.steps[0]', fromPointer: '/steps/2', toPointer: '/steps/0' },
      { kind: 'ADDED', field: 'form.context[0]', toPointer: '/context/0', after: 'Oslo' },
    ],
    breakingCount: 1,
    publishable: false,
    violations: [{ type: 'STEPS', subject: 'form.steps', description: 'must have a question\u009b2J' }],
  }
  const onTerminal = (body: FormChanges) => {
    api.respond = () => ({ body })
    return runFormctl(['forms', 'changes', '--organization', 'acme', '--form', 'Qx7Lm2RtZ0'], {
      isOutputTty: true,
    })
  }

  it('prints a table with shortened values, marks breaking changes, and lists violations', async () => {
    const { code, stdout } = await onTerminal(comparison)

    expect(code).toBe(0)
    expect(stdout.split('\n').map((line) => line.replace(/ {2,}/g, ' | '))).toEqual([
      'KIND | FIELD | CHANGE | BREAKING',
      'REMOVED | form.steps[1] | {"type":"text","key":"why","title":"Wha… | ! STEP_REMOVED',
      'CHANGED | form.name | "A" → "B"',
      'MOVED | form.steps[0]',
      'ADDED | form.context[0] | "Oslo"',
      'Breaking changes, which orphan answers already given: 1.',
      'The draft cannot be published:',
      ' | form.steps must have a question\ufffd2J',
      '',
    ])
    expect(api.received).toMatchObject([
      { method: 'GET', url: '/v2/organizations/acme/forms/Qx7Lm2RtZ0/changes?from=live&to=draft', body: '' },
    ])
  })

  it('says that there are none', async () => {
    const none = { ...comparison, changes: [], breakingCount: 0, publishable: true, violations: [] }

    expect((await onTerminal(none)).stdout).toBe(
      `There are no changes from ${comparison.from} to ${comparison.to}.\nThe draft can be published.\n`,
    )
  })

  it('prints the body of the API as JSON, between the given revisions', async () => {
    const { publishable: _, violations: __, ...body } = comparison
    api.respond = () => ({ body })

    const { stdout } = await forms('changes', '--from', requestId, '--to', 'latest', '--json')

    expect(JSON.parse(stdout)).toEqual(body)
    expect(api.received[0]!.url).toMatch(new RegExp(`/changes\\?from=${requestId}&to=latest$`))
  })
})

describe('without FORMS_API_URL', () => {
  it.each([['changes'], ['publish'], ['unpublish'], ['rollback', '--revision', 'live']])(
    'formctl forms %s says what to set',
    async (command, ...rest) => {
      vi.stubEnv('FORMS_API_URL', '')

      const { code, stderr } = await forms(command, ...rest)

      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/^error: .*Set FORMS_API_URL .*FORMS_API_KEY.*\n$/),
      ])
    },
  )
})
