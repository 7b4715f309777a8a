import { execFile } from 'node:child_process'
import { mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  allOperations,
  apiReasons,
  compatibilityRules,
  Form,
  publishRules,
  routePatternOf,
} from '@fms/contracts'
import { draftInputArbitrary } from '@fms/contracts/arbitrary'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { startGateway } from '../testing.ts'
import { buildOpenApi } from './build-openapi.ts'
import { essentialView } from './essential-view.ts'
import { form } from './examples.ts'

const root = join(import.meta.dirname, '../../../..')
/** As clients receive it. */
const document: ReturnType<typeof buildOpenApi> = JSON.parse(JSON.stringify(buildOpenApi()))

const essential = essentialView(document)

describe('the OpenAPI document', () => {
  it.each<[string, object, string[]]>([
    ['full', document, []],
    // Its one response for all errors is `default`.
    ['essential', essential, ['--skip-rule', 'operation-4xx-response']],
  ])('is valid, without warnings of the linter: %s', async (_, document, options) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'openapi-'))
    const file = join(folder.path, 'openapi.json')
    writeFileSync(file, JSON.stringify(document, null, 2))

    const { stderr } = await promisify(execFile)(
      process.execPath,
      [
        join(root, 'node_modules/.bin/redocly'),
        'lint',
        file,
        '--config',
        join(root, 'redocly.yaml'),
        ...options,
      ],
      { env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' } },
    )

    expect(stderr).toContain('is valid')
    expect(stderr).not.toMatch(/warning/)
  })

  it('is the same at every start', () => {
    expect(JSON.stringify(buildOpenApi())).toBe(JSON.stringify(document))
  })

  it('has exactly the routes of the gateway under /v2', async () => {
    await using gateway = await startGateway()

    const routes = routesIn(gateway.app.printRoutes({ commonPrefix: false }))
      .filter(({ path }) => path.startsWith('/v2/') && !/^\/v2\/(docs\/|console\*|console\/)/.test(path))
      .flatMap(({ path, methods }) => methods.map((method) => `${method} ${path}`))

    const documented = allOperations.flatMap(({ method, path }) => {
      const route = `/v2${routePatternOf({ path })}`
      return [`${method} ${route}`, ...(method === 'GET' ? [`HEAD ${route}`] : [])]
    })
    expect(routes.filter((route) => !route.includes('/-/')).sort()).toEqual(documented.sort())
  })

  it('describes the reads by public id in the parameter organizationRef', async () => {
    await using gateway = await startGateway()

    const routes = routesIn(gateway.app.printRoutes({ commonPrefix: false })).map(({ path }) => path)

    expect(routes.filter((route) => route.includes('/-/')).sort()).toEqual([
      '/v2/organizations/-/forms/:formRef',
      '/v2/organizations/-/forms/:formRef/revisions/live',
    ])
    expect(document.components.parameters).toMatchObject({
      organizationRef: {
        description: expect.stringContaining(
          '`-` where a form, or its revision `live`, is read by `publicId`',
        ),
      },
    })
  })

  it('has every reason of the API but those of a wrong path or method, or of a path outside of /v2', () => {
    const others = ['METHOD_NOT_ALLOWED', 'PATH_NOT_FOUND', 'PUBLIC_FORM_NOT_FOUND']
    const reasons = [...Object.keys(document.components.examples), ...others]

    expect(reasons.sort()).toEqual(apiReasons)
  })
})

/** The routes in Fastify's `printRoutes`: a tree, with one part of a path on each line. */
const routesIn = (tree: string) => {
  const parts: string[] = []
  return [...tree.matchAll(/^((?:│ {3}| {4})*)[├└]── (\S+)(?: \((.*)\))?$/gm)].map(
    ([, indent, part, methods = '']) => {
      parts.splice(indent!.length / 4, Infinity, part!)
      return { path: parts.join(''), methods: methods.split(', ') }
    },
  )
}

/** Every object in a part of the document, however deep. */
const objectsIn = (part: unknown): Record<string, unknown>[] =>
  typeof part !== 'object' || part === null
    ? []
    : [part as Record<string, unknown>, ...Object.values(part).flatMap(objectsIn)]

// tools/generated-clients/README.md has the effects on generated clients.
describe('for client generators, the document', () => {
  const { schemas } = document.components
  const properties = (name: string) => schemas[name]!.properties as Record<string, { description?: string }>

  it('has defaults only in descriptions', () => {
    const parts = [schemas, document.paths]

    expect(objectsIn(parts).filter((object) => 'default' in object)).toEqual([])
    expect(properties('FormInput').name!.description).toMatch(/Default: `"Untitled form"`\.$/)
    expect(properties('FormInput').maxFollowUpQuestions!.description).toMatch(/Default: `3`\.$/)
    expect(properties('ThemeInput').primaryColor!.description).toMatch(/^Default: `"#2563eb"`\.$/)
    expect(properties('PublishFormRequest').validateOnly!.description).toMatch(/Default: `false`\.$/)
    expect(properties('Form').name!.description).not.toMatch(/Default/)
  })

  it('has no schema named like a generated response type', () => {
    const responseTypes = allOperations.map(({ id }) => `${id.charAt(0).toUpperCase()}${id.slice(1)}Response`)

    expect(Object.keys(schemas).filter((name) => responseTypes.includes(name))).toEqual([])
  })

  it('has named variants only, and no boolean with a constant', () => {
    const all = objectsIn([schemas, document.paths])
    const variants = all.flatMap(({ anyOf }) => (anyOf ?? []) as object[])

    expect(variants.length).toBeGreaterThan(5)
    expect(variants.filter((variant) => 'properties' in variant)).toEqual([])
    expect(all.filter((object) => object.type === 'boolean' && 'const' in object)).toEqual([])
  })

  it('has a format for numbers beyond 32 bits', () => {
    const numbers = objectsIn(schemas).filter(({ type }) => [type].flat().includes('number'))
    const large = objectsIn([schemas, document.paths]).filter(
      ({ type, maximum }) => [type].flat().includes('integer') && Number(maximum) >= 2 ** 31,
    )

    expect(numbers.length).toBeGreaterThan(5)
    expect(new Set(numbers.map(({ format }) => format))).toEqual(new Set(['double']))
    expect(large.length).toBeGreaterThan(5)
    expect(new Set(large.map(({ format }) => format))).toEqual(new Set(['int64']))
  })
})

const ajv = new Ajv2020({ strict: false, code: { optimize: false } })
addFormats.default(ajv)
ajv.addSchema(document, 'openapi')

interface Content {
  examples?: Record<string, { $ref?: string; value?: unknown }>
}
interface Body {
  content?: Record<string, Content>
}

/** Every body of requests and responses: a JSON pointer to it, and its part of the document. */
const bodies = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item as Record<string, { requestBody?: Body; responses?: Record<string, Body> }>).flatMap(
    ([method, { requestBody, responses = {} }]) =>
      [
        ...(requestBody ? [[['requestBody'], requestBody] as const] : []),
        ...Object.entries(responses).map(([code, response]) => [['responses', code], response] as const),
      ].flatMap(([place, { content = {} }]) =>
        Object.entries(content).map(([type, { examples = {} }]) => ({
          pointer: ['paths', path, method, ...place, 'content', type]
            .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
            .join('/'),
          examples,
        })),
      ),
  ),
)

describe('the description', () => {
  const lines = document.info.description.split('\n')

  it('says within 60 lines how a program works with the API', () => {
    expect(lines.length).toBeLessThanOrEqual(60)
    expect(Object.keys(document.info).indexOf('description')).toBeLessThan(5)
  })

  it('has the path of an operation wherever it has a path', () => {
    const paths = lines.flatMap((line) => [...line.matchAll(/`(?:GET|POST|PATCH) (…?)(\/[^`]+)`/g)])

    expect(paths.length).toBeGreaterThan(5)
    for (const [, isShort, path] of paths) {
      expect(Object.keys(document.paths)).toContain(
        isShort ? `/organizations/{organizationRef}${path}` : path,
      )
    }
  })
})

describe('the examples', () => {
  it('are in every body of every operation', () => {
    expect(bodies.length).toBeGreaterThan(200)
    expect(bodies.filter(({ examples }) => Object.keys(examples).length === 0)).toEqual([])
  })

  it('match their schemas', () => {
    for (const { pointer, examples } of bodies) {
      const validate = ajv.getSchema(`openapi#/${pointer}/schema`)!
      for (const [name, { $ref, value }] of Object.entries(examples)) {
        const example = $ref ? document.components.examples[$ref.split('/').at(-1)!]!.value : value
        expect(validate(example), `${pointer} ${name}: ${ajv.errorsText(validate.errors)}`).toBe(true)
      }
    }
  })

  it('have each way in which a publish is refused', () => {
    const { examples } = bodies.find(({ pointer }) => /publish\/post\/responses\/400/.test(pointer))!

    expect(Object.keys(examples).filter((name) => name.includes(': '))).toEqual([
      ...Object.keys(publishRules).map((rule) => `DRAFT_NOT_PUBLISHABLE: ${rule}`),
      ...Object.keys(compatibilityRules).map((rule) => `BREAKING_CHANGES: ${rule}`),
    ])
  })
})

describe('the essential view', () => {
  it('has no component to which nothing leads, and every one to which something leads', () => {
    const text = JSON.stringify(essential)
    const refs = new Set([...text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, ref]) => ref))
    const { securitySchemes: _, ...components } = essential.components

    const names = Object.entries(components).flatMap(([kind, named]) =>
      Object.keys(named).map((name) => `${kind}/${name}`),
    )
    expect(names.sort()).toEqual([...refs].sort())
  })

  it('has every type of step in one schema', () => {
    const { StepInput } = essential.components.schemas

    expect(StepInput!.description).toContain('- `start`: ')
    expect(Object.keys(StepInput!.properties!)).toEqual(expect.arrayContaining(['type', 'key', 'branches']))
  })

  it('says which errors an operation has', () => {
    const { post } = (essential.paths as never)['/organizations/{organizationRef}/forms/{formRef}/publish']

    expect(essential.info.description).toContain('401 API_KEY_INVALID')
    expect(post).toMatchObject({
      responses: {
        default: {
          description: expect.stringContaining('400 DRAFT_NOT_PUBLISHABLE'),
          content: { 'application/json': { examples: { BREAKING_CHANGES: {}, FORM_MOVED: {} } } },
        },
      },
    })
  })
})

describe('the schemas', () => {
  const accepts = (name: string, value: unknown) =>
    ajv.validate({ $ref: `openapi#/components/schemas/${name}` }, value) || ajv.errorsText()

  it('accept every form that the contract accepts', () => {
    fc.assert(
      fc.property(draftInputArbitrary, (draft) => {
        expect(accepts('CreateFormRequest', { form: draft })).toBe(true)
        expect(accepts('UpdateFormRequest', { form: draft })).toBe(true)
      }),
    )
  })

  it('accept every form that the contract returns', () => {
    fc.assert(
      fc.property(draftInputArbitrary, (draft) => {
        expect(accepts('Form', Form.parse({ ...form, ...draft }))).toBe(true)
      }),
    )
  })

  it.each<[string, unknown]>([
    ['CreateFormRequest', { form: {} }],
    ['CreateFormRequest', { form, validateOnly: true }],
    ['CreateFormRequest', { form: { theme: { primaryColor: null }, i18n: { translations: { de: null } } } }],
    ['CreateFormRequest', { form: { description: null, steps: null, voice: { enabled: null } } }],
    ['UpdateFormRequest', { form: { theme: { primaryColor: null }, i18n: { translations: { de: null } } } }],
    ['UpdateFormRequest', { form: { description: null, steps: null, voice: null } }],
    ['UpdateFormRequest', { form: { steps: [{ type: 'matrix', key: 'm', rows: [null] }] } }],
    ['PublishFormRequest', { requestId: '3F0C9A52-8A0F-4F55-8C59-0A3B1D2E4F60' }],
  ])('of %s accept %j', (name, body) => {
    expect(accepts(name, body)).toBe(true)
  })

  it.each<[string, unknown]>([
    ['CreateFormRequest', {}],
    ['CreateFormRequest', { form: { nmae: 'x' } }],
    ['CreateFormRequest', { form: { name: null } }],
    ['CreateFormRequest', { form: { type: null, defaultMode: null } }],
    ['CreateFormRequest', { form: { context: [null] } }],
    ['CreateFormRequest', { form: { name: ' \u0085\u3000' } }],
    ['CreateFormRequest', { form: { branding: { logoUrl: 'example.com' } } }],
    ['CreateFormRequest', { form: { i18n: { sourceLocale: 'de_DE', translations: { '': {} } } } }],
    ['CreateFormRequest', { form: {}, validateonly: true }],
    ['CreateFormRequest', { form: { steps: [{ type: 'start', key: 's', further: 1 }] } }],
    ['UpdateFormRequest', { form: { name: null } }],
    ['UpdateFormRequest', { form: { type: null, defaultMode: null } }],
    ['UpdateFormRequest', { form: { theme: { nope: null } } }],
    ['UpdateFormRequest', { form: { context: [null] } }],
    ['UpdateFormRequest', { form: { steps: [{ key: 'm' }] } }],
    ['PublishFormRequest', { requestId: 'x' }],
    ['DeleteFormRequest', { validateOnly: 'true' }],
  ])('of %s reject %j', (name, body) => {
    expect(accepts(name, body)).not.toBe(true)
  })
})
