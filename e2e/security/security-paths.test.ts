import { identityHeader } from '@fms/contracts'
import { createIdentitySigner, createIdentityVerifier } from '@fms/service-kit'
import fc from 'fast-check'
import { Client } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { secret as formsSecret, startForms, urlOf } from '../../services/forms/src/testing/start-forms.ts'
import { secret, startGateway } from '../../services/gateway/src/testing.ts'

/** Segments and characters that some servers interpret as a separator, an end of the path, or `..`. */
const unusualPieces = [
  '/',
  '//',
  '/./',
  '/../',
  '..',
  '.',
  '%2F',
  '%2f',
  '%252F',
  '%252f',
  '%2e%2e',
  '%2E%2E%2F',
  '%252e%252e',
  '..%2f',
  '%5c',
  '\\',
  ';',
  ';a=b',
  '%3b',
  '%00',
  '%0a',
  '%0d%0a',
  '%23',
  '#',
  '%3f',
  '%20',
  '+',
  '%',
  '%zz',
  '%c0%af',
  '%ef%bc%8f',
  '%u002f',
  ':',
  '*',
  '@',
]

const names = [
  'organizations',
  'ORGANIZATIONS',
  'forms',
  'Forms',
  'events',
  'revisions',
  'live',
  'changes',
  'internal',
  'authorize',
  'v2',
  'healthz',
]

/** Paths of references, names of segments and unusual pieces. The first reference is an organization of the caller. */
const pathOf = ([own, ...others]: [string, ...string[]]): fc.Arbitrary<string> => {
  const refs = [own, ...others]
  return fc.oneof(
    fc
      .tuple(
        fc.constantFrom(`/organizations/${own}/forms/`, `/organizations/${own}/`),
        fc.array(fc.constantFrom(...refs, ...names, ...unusualPieces), { minLength: 1, maxLength: 4 }),
      )
      .map(([start, pieces]) => start + pieces.join('')),
    fc
      .array(fc.constantFrom(...refs, ...names, ...unusualPieces), { minLength: 1, maxLength: 8 })
      .map((pieces) => `/${pieces.join('')}`),
    fc
      .tuple(
        fc.constantFrom('organizations', 'organizations/', '%6frganizations', 'Organizations'),
        fc.array(fc.constantFrom(...refs, ...unusualPieces), { minLength: 1, maxLength: 3 }),
        fc.constantFrom('forms', 'forms/', '%66orms', 'forms;', 'events'),
        fc.array(fc.constantFrom(...refs, 'live', ...unusualPieces), { minLength: 1, maxLength: 4 }),
      )
      .map(
        ([first, organization, second, form]) =>
          `/${first}/${organization.join('')}/${second}/${form.join('')}`,
      ),
  )
}

describe('a path at the gateway', () => {
  let gateway: Awaited<ReturnType<typeof startGateway>>
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway[Symbol.asyncDispose]())

  const verify = createIdentityVerifier([secret])
  const servicePath =
    /^\/organizations(?:\/([0-9a-f-]{36})(?:\/forms(?:\/[\w-]{1,100}(?:\/changes|\/revisions(?:\/[\w-]{1,100})?)?)?|\/events(?:\/[\w-]{1,100})?)?)?$/

  it('is forwarded only with the authorized organization', async () => {
    const stranger = crypto.randomUUID()
    const { organizationId } = gateway.organization
    const refs: [string, ...string[]] = [
      'acme',
      organizationId,
      organizationId.toUpperCase(),
      stranger,
      'Ab3dE6gH9j',
      'stream',
      '',
    ]

    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'PATCH', 'DELETE', 'POST'),
        pathOf(refs),
        async (method, path) => {
          for (const service of [gateway.forms, gateway.organizations]) service.received.length = 0

          const { status } = await gateway.send(method, `/v2${path}`)

          const forwarded = [...gateway.forms.received, ...gateway.organizations.received].filter(
            ({ url }) => url !== '/internal/authorize',
          )
          if (status !== 200) expect(forwarded).toEqual([])
          for (const { url, headers } of forwarded) {
            const [, organizationInPath] =
              servicePath.exec(url.split('?', 1)[0]!) ?? expect.fail(`${path} became ${url}`)
            const identity = verify(String(headers[identityHeader]))
            expect(identity).toMatchObject({ userId: gateway.directory.userOf(gateway.key).userId })
            expect([organizationId, undefined]).toContain(organizationInPath)
            expect((identity as { organizationId?: string }).organizationId).toBe(organizationInPath)
          }
        },
      ),
      { numRuns: 800 },
    )
  })
})

describe('a path at the forms service', () => {
  it('never returns a form of another organization', async () => {
    await using service = await startForms()
    const { organizationId } = service
    const other = crypto.randomUUID()
    const mine = await service.given.form({ name: 'Mine' })
    const theirs = await service.given.form({ name: 'Theirs' }, other)
    const token = createIdentitySigner(formsSecret)({
      userId: crypto.randomUUID(),
      organizationId,
      role: 'editor',
      readOnly: false,
      key: { id: crypto.randomUUID(), prefix: 'abcd1234' },
    })
    const origin = await service.app.listen({ host: '127.0.0.1', port: 0 })
    const client = new Client(origin)
    await using cleanup = new AsyncDisposableStack()
    cleanup.defer(() => client.close())
    const get = async (path: string) => {
      const { statusCode, body } = await client.request({
        method: 'GET',
        path,
        headers: { [identityHeader]: token },
      })
      return { status: statusCode, text: await body.text() }
    }
    const refs: [string, ...string[]] = [
      organizationId,
      other,
      mine.formId,
      theirs.formId,
      mine.publicId,
      theirs.publicId,
      '',
    ]
    expect((await get(urlOf(mine))).text).toContain('Mine')
    expect((await get(urlOf(theirs))).status).toBe(404)

    const ownPath = new RegExp(`^/organizations/${organizationId}/(forms|events)(/|$)`)
    await fc.assert(
      fc.asyncProperty(pathOf(refs), async (path) => {
        const { status, text } = await get(path)

        expect(status).toBeLessThan(500)
        expect(text).not.toContain('Theirs')
        const [withoutQuery] = path.split(/[?#]/, 1) as [string]
        if (status === 200 && withoutQuery !== '/healthz')
          expect(decodeURIComponent(withoutQuery)).toMatch(ownPath)
      }),
      { numRuns: 800, examples: [[`/organizations/${organizationId}/forms#`], ['/healthz#a']] },
    )
  })
})
