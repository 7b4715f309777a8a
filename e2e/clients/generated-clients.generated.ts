import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { findOnPath, reportToolchain } from '@fms/testkit/toolchains'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type System, startSystem } from '../system.ts'
import { expectedLifecycle, type GeneratedClient, prepareClient } from './generated-clients.ts'

const isOnPath = (...programs: string[]) => programs.every((program) => findOnPath(program).length > 0)

const pythonSuffices = `import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))`

const toolchains = {
  'openapi-python-client': spawnSync('python3', ['-c', pythonSuffices]).status === 0,
  'oapi-codegen': isOnPath('go'),
  'openapi-generator': isOnPath('java', 'mvn'),
}

let system: System
let client: GeneratedClient | undefined

beforeAll(async () => {
  system = await startSystem()
  const names = (found: boolean) =>
    Object.entries(toolchains)
      .filter(([, isFound]) => isFound === found)
      .map(([name]) => name)
      .join(', ') || 'none'
  reportToolchain(`Generated clients: ${names(true)}; toolchain not on the PATH: ${names(false)}.`)
})
afterEach(() => {
  client?.[Symbol.dispose]()
  client = undefined
})
afterAll(() => system?.[Symbol.asyncDispose]())

describe.runIf(toolchains['openapi-python-client'])('the client that openapi-python-client generates', () => {
  it('runs the lifecycle of a form', async () => {
    client = await prepareClient(system, 'python')
    const python = join(client.folder, 'venv/bin/python')
    await client.run('python3', ['-m', 'venv', 'venv'])
    await client.run(python, ['-m', 'pip', 'install', '--quiet', '--requirement', 'requirements.txt'])

    await client.run(
      'openapi-python-client',
      [
        ...['generate', '--path', client.openApi, '--output-path', 'form_management_client'],
        ...['--meta', 'none', '--fail-on-warning'],
      ],
      // The generator needs its formatter ruff on the PATH.
      { PATH: `${join(client.folder, 'venv/bin')}:${process.env.PATH}` },
    )

    expect(await client.runLifecycle(python, ['life.py'])).toEqual(expectedLifecycle)
  })
})

describe.runIf(toolchains['oapi-codegen'])('the client that oapi-codegen generates', () => {
  it('compiles, and runs the lifecycle of a form', async () => {
    client = await prepareClient(system, 'go')
    mkdirSync(join(client.folder, 'forms'))

    await client.run('go', ['tool', 'oapi-codegen', '-config', 'oapi-codegen.yaml', client.openApi])

    expect(await client.runLifecycle('go', ['run', '.'])).toEqual(expectedLifecycle)
  })
})

describe.runIf(toolchains['openapi-generator'])('the Java client that openapi-generator generates', () => {
  it('compiles', async () => {
    client = await prepareClient(system, 'java')
    const generated = join(client.folder, 'generated')
    const mvn = ['--batch-mode', '--quiet']

    await client.run('mvn', [
      ...[...mvn, 'generate-sources'],
      ...[`-Dopenapi.document=${client.openApi}`, `-Dopenapi.output=${generated}`],
    ])

    await client.run('mvn', [...mvn, '--file', join(generated, 'pom.xml'), 'compile'])
  })
})
