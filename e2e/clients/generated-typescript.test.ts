import { symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { reportToolchain } from '@fms/testkit/toolchains'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type System, startSystem } from '../system.ts'
import { expectedLifecycle, type GeneratedClient, prepareClient } from './generated-clients.ts'

const root = join(import.meta.dirname, '../..')
const tools = join(root, 'tools/generated-clients')

let system: System
let client: GeneratedClient

beforeAll(async () => {
  system = await startSystem()
  client = await prepareClient(system, 'typescript')
  symlinkSync(join(root, 'node_modules'), join(client.folder, 'node_modules'))
  const generator = join(tools, 'node_modules/openapi-typescript/bin/cli.js')
  await client.run(process.execPath, [generator, client.openApi, '--output', 'schema.d.ts'])
  reportToolchain(
    'Generated clients: openapi-typescript; npm run test:generated also tries the one for Python.',
  )
})
afterAll(async () => {
  client?.[Symbol.dispose]()
  await system?.[Symbol.asyncDispose]()
})

describe('types that openapi-typescript generates', () => {
  it.each([
    ['5', join(tools, 'package.json')],
    ['7', join(root, 'package.json')],
  ])('compile with TypeScript %s', async (_, manifest) => {
    const tsc = join(dirname(createRequire(manifest).resolve('typescript/package.json')), 'bin/tsc')
    const compilerOptions = {
      strict: true,
      module: 'nodenext',
      lib: ['esnext', 'dom'],
      types: ['node'],
      target: 'esnext',
      noEmit: true,
    }
    writeFileSync(
      join(client.folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['life.ts'] }),
    )
    writeFileSync(join(client.folder, 'package.json'), '{ "type": "module" }')

    await client.run(process.execPath, [tsc, '-p', client.folder])
  })

  it('run the lifecycle of a form', async () => {
    expect(await client.runLifecycle(process.execPath, ['life.ts'])).toEqual(expectedLifecycle)
  })
})
