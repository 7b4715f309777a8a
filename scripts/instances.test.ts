import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { instancesOf, writePrometheusTargets } from './instances.ts'
import { defaultInstances } from './start-config.ts'

const service = (name: string, env: NodeJS.ProcessEnv = {}) => ({
  name,
  url: 'http://127.0.0.1:8080',
  args: [`${name}.ts`],
  env: { PORT: '8080', ...env },
})

const limitsOfGateways = (env: NodeJS.ProcessEnv) =>
  instancesOf([service('gateway', env)], { gateway: 3 }, [1, 2, 3]).map(({ env }) => env!)

describe('defaultInstances', () => {
  it.each([
    [1, 1],
    [4, 1],
    [7, 1],
    [8, 2],
    [16, 4],
    [128, 8],
  ])('on %i cores, is %i', (cores, expected) => {
    expect(defaultInstances(cores)).toBe(expected)
  })
})

describe('instancesOf', () => {
  it('gives each process the port of its service, and another of its own', () => {
    const all = instancesOf([service('forms'), service('publisher')], { forms: 2, publisher: 1 }, [1, 2])

    expect(all.map(({ name, url }) => [name, url])).toEqual([
      ['forms', 'http://127.0.0.1:1'],
      ['forms-2', 'http://127.0.0.1:2'],
      ['publisher', 'http://127.0.0.1:8080'],
    ])
    expect(all.map(({ env }) => env)).toEqual([
      { PORT: '8080', PROBE_PORT: '1' },
      { PORT: '8080', PROBE_PORT: '2' },
      { PORT: '8080' },
    ])
  })

  it('divides what may be in flight in a gateway, and no other limit', () => {
    const env = { MAX_REQUESTS: '100', MAX_REQUESTS_PER_USER: '0', RATE_LIMIT_PER_MINUTE: '60' }

    for (const each of limitsOfGateways(env)) {
      expect(each).toMatchObject({
        MAX_REQUESTS: '34',
        MAX_REQUESTS_PER_USER: '0',
        RATE_LIMIT_PER_MINUTE: '60',
      })
      // Of the default, 64.
      expect(each.MAX_KEY_LOOKUPS).toBe('22')
      expect(each.MAX_BUFFERED_RESPONSE_BYTES).toBeUndefined()
    }
  })

  it('leaves an invalid limit to the gateway, which names it', () => {
    for (const each of limitsOfGateways({ MAX_REQUESTS: 'many' })) expect(each.MAX_REQUESTS).toBe('many')
  })
})

describe('writePrometheusTargets', () => {
  it('names the service of each process as its job', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'targets-'))
    const path = join(folder.path, 'prometheus.json')

    writePrometheusTargets(path, [service('forms'), service('forms-2')])

    const target = { labels: { job: 'forms' }, targets: ['127.0.0.1:8080'] }
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual([target, target])
  })
})
