import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { reportToolchain } from '@fms/testkit/machine/toolchains'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedSystem } from '../shared-system.ts'
import {
  bundleForBrowser,
  type ClientInstallation,
  expectedLifecycle,
  findNodes,
  installClient,
  lifecycleProgram,
} from './client-package.ts'

const root = join(import.meta.dirname, '../..')
const nodes = findNodes()

const system = await sharedSystem()
let installation: ClientInstallation
let installed: string

beforeAll(async () => {
  installation = installClient()
  installed = join(installation.folder, 'node_modules/@fms/client')
  reportToolchain(`Client package: used with Node ${nodes.map(({ version }) => version).join(', ')}.`)
})
afterAll(() => installation?.[Symbol.dispose]())

/** Runs a program of the installation in a new organization. */
const run = async (node: string, file: string) => {
  const { apiKey, slug: organization } = await system.account()
  const parameters = JSON.stringify({ baseUrl: system.baseUrl, apiKey, organization })
  const { stdout } = await promisify(execFile)(node, [file, parameters], { cwd: installation.folder })
  return JSON.parse(stdout)
}

const importing = `import { createClient, isReason } from '@fms/client'`
const requiring = `const { createClient, isReason } = require('@fms/client')`
const printing = `life(JSON.parse(process.argv[2])).then((shown) => console.log(JSON.stringify(shown)))`

describe('the packed client', () => {
  it('contains modules, the README and the licence, and no test', () => {
    const { files } = installation

    expect(files.filter((file) => !/^[a-z./-]+\.(js|js\.map|d\.ts)$/.test(file))).toEqual([
      'LICENSE',
      'README.md',
      'package.json',
    ])
    expect(files).toContain('index.d.ts')
    expect(files.filter((file) => file.includes('test'))).toEqual([])
  })

  it('depends on no other package', () => {
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
    const imported = installation.files
      .filter((file) => /\.(js|d\.ts)$/.test(file))
      .flatMap((file) => [...readFileSync(join(installed, file), 'utf8').matchAll(/\bfrom '([^']+)'/g)])
      .map(([, from]) => from!)

    expect(Object.keys(manifest).filter((name) => /dependencies$/i.test(name))).toEqual([])
    expect(imported.length).toBeGreaterThan(20)
    expect(imported.filter((from) => !/^\.{1,2}\/.*\.js$/.test(from))).toEqual([])
  })

  it('has doc comments in its type declarations', () => {
    const declarations = readFileSync(join(installed, 'forms.d.ts'), 'utf8')

    expect(declarations).toContain('/** Freezes the draft as a revision and makes the revision live. */')
    expect(declarations).toContain('publish(organization: string, form: string, options?: PublishOptions)')
  })
})

describe.each(nodes)('on Node $version, the package', ({ file: node }) => {
  it('can be imported by a module', async () => {
    expect(await run(node, installation.write('life.mjs', lifecycleProgram(importing, printing)))).toEqual(
      expectedLifecycle,
    )
  })

  // require() of a module needs Node 20.19, 22.12 or newer.
  it('can be required by a script, or imported on a Node without require() of modules', async () => {
    const canRequire = execFileSync(node, ['-p', 'process.features.require_module === true'], {
      encoding: 'utf8',
    })
    const load = canRequire.trim() === 'true' ? requiring : ''
    const show = load
      ? printing
      : `import('@fms/client').then((client) => { Object.assign(globalThis, client); ${printing} })`

    expect(await run(node, installation.write('life.cjs', lifecycleProgram(load, show)))).toEqual(
      expectedLifecycle,
    )
  })

  it('has source maps, so that stack traces show its sources', () => {
    const program = `
      import { createClient } from '@fms/client'
      const client = createClient({ baseUrl: 'http://127.0.0.1:9/v2', apiKey: 'fms_test' })
      client.forms.get('..', 'a').catch((error) => console.log(error.stack))
    `
    const file = installation.write('stack.mjs', program)

    expect(execFileSync(node, ['--enable-source-maps', file], { encoding: 'utf8' })).toMatch(
      /src\/transport\/references\.ts:\d+:\d+/,
    )
  })
})

describe('a bundle for browsers', () => {
  it('is one script without imports', async () => {
    const show = `export { life }`
    const bundle = await bundleForBrowser(installation.write('bundled.js', lifecycleProgram(importing, show)))
    const file = installation.write('bundle.mjs', `${bundle}\n${printing}`)

    expect(bundle).not.toMatch(/\bfrom ["']/)
    expect(await run(process.execPath, file)).toEqual(expectedLifecycle)
  })
})

const compilers = [
  ['TypeScript 5', createRequire(join(root, 'tools/generated-clients/package.json'))],
  ['TypeScript 7', createRequire(join(root, 'package.json'))],
] as const

const program = `
import { createClient, type Form, type FormPatch, isReason, openType, type Step } from '@fms/client'

const client = createClient({ baseUrl: 'https://forms.example.com/v2', apiKey: 'fms_test' })
const patch: FormPatch = {
  theme: { primaryColor: null },
  i18n: { translations: { de: null } },
  steps: [
    { type: 'rating', key: 'stars', title: 'Your rating', max: 5 },
    { type: openType('matrix'), key: 'grid', rows: ['a', 'b'] },
  ],
}

const firstOf = (step: Step): string | undefined => {
  switch (step.type) {
    case 'start':
      return step.title
    case 'choice':
      return step.options?.map((option) => (typeof option === 'string' ? option : option.label))[0]
    case 'rating':
      return step.max?.toFixed()
    case openType('matrix'):
      return JSON.stringify(step.rows)
    default:
      return step.type.toUpperCase()
  }
}

export const rename = async (form: Form): Promise<string | undefined> => {
  try {
    const edited = await client.forms.edit(form.path, form.path, ({ steps }) => ({ ...patch, steps }))
    return edited.form.steps.map(firstOf).join()
  } catch (error) {
    if (isReason(error, 'FORM_MOVED')) return error.metadata.etag
    throw error
  }
}
`
const invalidProgram = `
import { createClient, openType, type StepInput } from '@fms/client'
createClient({ baseUrl: 'https://forms.example.com/v2', apiKey: 'fms_test' }).forms.create('demo', { nmae: 'x' })
export const misspeltMembers: StepInput[] = [
  { type: 'start', key: 'a', titel: 'x' },
  { type: 'choice', key: 'b', option: ['x'] },
]
export const misspeltType: StepInput = { type: 'ratign', key: 'c' }
export const knownType: StepInput = { type: openType('rating'), key: 'd' }
`

describe.each(compilers)('%s', (_, require) => {
  const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc')
  const withDom = { lib: ['es2022', 'dom'], types: [] }
  const withNode = { lib: ['es2022'], types: ['node'], typeRoots: [join(root, 'node_modules/@types')] }

  /** Compiles both programs. @returns the errors of the compiler. */
  const compile = async (options: object): Promise<string[]> => {
    installation.write('program.mts', program)
    installation.write('invalid.mts', invalidProgram)
    const strict = { strict: true, exactOptionalPropertyTypes: true, skipDefaultLibCheck: true }
    const compilerOptions = { ...strict, noEmit: true, ...options }
    const files = ['program.mts', 'invalid.mts']
    installation.write('tsconfig.json', JSON.stringify({ compilerOptions, files }))
    const args = [tsc, '--pretty', 'false', '-p', installation.folder]
    const failed = await promisify(execFile)(process.execPath, args).then(
      () => ({ stdout: '' }),
      (error: { stdout: string }) => error,
    )
    return failed.stdout.split('\n').filter((line) => /error TS/.test(line))
  }

  it.each([
    ['node16', 'Node', { module: 'node16', moduleResolution: 'node16', ...withNode }],
    ['bundler', 'the DOM', { module: 'esnext', moduleResolution: 'bundler', ...withDom }],
  ])('compiles a program and rejects an invalid one, with %s and the types of %s', async (_, __, options) => {
    expect(await compile(options)).toEqual([
      expect.stringMatching(/invalid\.mts\(3,.*'nmae'/),
      expect.stringMatching(/invalid\.mts\(5,.*'titel'/),
      expect.stringMatching(/invalid\.mts\(6,.*'option'/),
      expect.stringMatching(/invalid\.mts\(8,/),
      expect.stringMatching(/invalid\.mts\(9,/),
    ])
  })
})
