import { spawnSync } from 'node:child_process'
import { environmentWithoutNpm, reportToolchain } from '@fms/testkit/machine/toolchains'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type System, startSystem } from '../system.ts'
import { runCommands } from './guide-commands.ts'
import { startUnreliableGateway } from './unreliable-gateway.ts'

const languages = [
  {
    language: 'Python 3.11',
    name: 'guides/from-python.md',
    isFound:
      spawnSync('python3', ['-c', 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'])
        .status === 0,
    live: 'True',
  },
  {
    language: 'Go 1.26',
    name: 'guides/from-go.md',
    isFound: Number(/go1\.(\d+)/.exec(String(spawnSync('go', ['env', 'GOVERSION']).stdout))?.[1]) >= 26,
    live: 'true',
  },
]
for (const { language, name, isFound } of languages) {
  reportToolchain(`Generated clients: docs/${name}${isFound ? '' : ` skipped: no ${language}`}.`)
}

let system: System

beforeAll(async () => {
  system = await startSystem()
})
afterAll(() => system?.[Symbol.asyncDispose]())

describe.each(languages)('the program of docs/$name', ({ name, isFound, live }) => {
  it.runIf(isFound)(
    'reads all pages, creates a form once, keeps the edits of others, publishes, and follows every event',
    async () => {
      const account = await system.account()
      for (let number = 1; number <= 100; number++) {
        await system.call(account, 'POST', account.forms, { form: { name: `Form ${number}` } })
      }
      using gateway = await startUnreliableGateway(system.baseUrl)

      const { stdout } = await runCommands(name, system, account, {
        baseUrl: gateway.baseUrl,
        env: environmentWithoutNpm(),
      })

      const output = stdout.slice(stdout.indexOf('forms: ')).trim().split('\n')
      expect(output).toEqual([
        'forms: 101',
        'read again',
        `live: ${live}`,
        'event: form.created',
        'event: form.updated',
        'event: form.updated',
        'event: form.published',
      ])
      expect([...gateway.lost]).toEqual(['create', 'stream'])
      const { body } = await system.call(account, 'GET', `${account.forms}?filter=Yoga`)
      expect(body.forms).toMatchObject([
        {
          name: 'Yoga',
          description: 'For beginners, too',
          theme: { primaryColor: '#2563eb', buttonRadiusPx: 4.5 },
          steps: [
            { type: 'start', title: 'Yoga on Mondays' },
            { type: 'rating', max: 5 },
            { type: 'email', required: true },
            { type: 'end', key: 'thanks' },
          ],
          live: true,
        },
      ])
    },
  )
})
