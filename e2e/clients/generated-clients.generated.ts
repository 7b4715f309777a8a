import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { reportToolchain } from '@fms/testkit/toolchains'
import { describe, expect, it } from 'vitest'
import { startSystem } from '../system.ts'
import { expectedLifecycle, prepareClient } from './generated-clients.ts'

const pythonSuffices = `import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))`
const hasPython = spawnSync('python3', ['-c', pythonSuffices]).status === 0
reportToolchain(`Generated clients: openapi-python-client${hasPython ? '' : ' not used: no Python 3.11'}.`)

describe.runIf(hasPython)('the client that openapi-python-client generates', () => {
  it('runs the lifecycle of a form', async () => {
    await using system = await startSystem()
    using client = await prepareClient(system, 'python')
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
