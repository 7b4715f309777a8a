import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { authorization, everyUser, natsUsers } from '../scripts/nats-users.ts'
import { nodeOptions } from '../scripts/services.ts'
import { operatorsEnv, readCompose, rehearse } from './compose.ts'

const root = join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const { services, networks } = readCompose(operatorsEnv())
const all = Object.entries(services)
const ours = all.filter(([, { build }]) => build)

describe('docker-compose.yml', () => {
  it('keeps to the Compose specification', () => {
    // dclint, a linter of Compose files, ships the specification's own schema.
    const package_ = dirname(createRequire(import.meta.url).resolve('dclint/package.json'))
    const { $schema: _, ...schema } = JSON.parse(
      readFileSync(join(package_, 'schemas/compose.schema.json'), 'utf8'),
    )
    const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })

    const isValid = ajv.validate(schema, parse(read('docker-compose.yml'), { merge: true }))

    expect(ajv.errors ?? []).toEqual([])
    expect(isValid).toBe(true)
  })

  it('runs every service that there is', () => {
    const folders = readdirSync(join(root, 'services'))

    expect(ours.map(([name]) => name).sort()).toEqual([...folders, 'migrate'].sort())
    for (const name of folders)
      expect(services[name]!.command).toEqual(['node', ...nodeOptions, `services/${name}/src/main.ts`])
  })

  it.each(all)('pins and limits %s', (_, { image, deploy }) => {
    expect(image).toMatch(/:\d+\.\d+\.\d+(-[\w.]+)?$/)
    expect(deploy.resources.limits).toEqual({ cpus: expect.any(String), memory: expect.any(String) })
  })

  it('publishes the port of the gateway alone', () => {
    expect(all.filter(([, { ports }]) => ports).map(([name]) => name)).toEqual(['gateway'])
    expect(services.gateway!.ports).toEqual(['8080-8089:8080'])
    const leadingOut = Object.keys(networks).filter((name) => !networks[name]!.internal)
    expect(
      all.filter(([, each]) => each.networks.some((name) => leadingOut.includes(name))).map(([name]) => name),
    ).toEqual(['gateway'])
  })

  it('lets the gateway reach no store', () => {
    expect(services.gateway!.networks).not.toContain('stores')
    expect(services.mongo!.networks).toEqual(['stores'])
  })

  it('starts nothing without its secrets', () => {
    const secrets = Object.keys(operatorsEnv()).filter((name) => /(SECRET|PASSWORD|KEY)$/.test(name))

    expect(secrets).toHaveLength(8)
    for (const secret of secrets) {
      expect(() => readCompose({ ...operatorsEnv(), [secret]: '' })).toThrow(secret)
    }
  })

  it('asks for what .env.example explains, and nothing else', () => {
    const asked = new Set(
      [...read('docker-compose.yml').matchAll(/(?<!\$)\$\{(\w+)/g)].map(([, name]) => name),
    )

    expect([...asked].sort()).toEqual(Object.keys(operatorsEnv()).sort())
  })
})

describe('Dockerfile', () => {
  it('gives Node the options that npm start gives it', () => {
    const [, command] = /^CMD (\[.*\])$/m.exec(read('Dockerfile'))!

    expect(JSON.parse(command!)).toEqual(['node', ...nodeOptions, 'services/gateway/src/main.ts'])
  })

  it('pins the Node that the tests run on', () => {
    expect(read('Dockerfile')).toMatch(`FROM node:${process.versions.node}-slim`)
  })

  it('keeps what Node makes of the sources: nothing strips types when a service starts', {
    timeout: 60_000,
  }, async () => {
    const [, script] = /^USER node\nRUN ((?:.*\\\n)*.*)$/m.exec(read('Dockerfile'))!
    await using cache = await mkdtempDisposable(join(tmpdir(), 'compiled-'))
    const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: cache.path, NODE_ENV: 'production' }
    const atHome = (script: string) =>
      script.replaceAll('/app/', `${root}/`).replaceAll(' .cache', ` ${cache.path}`)
    const here = { cwd: root, env }
    await promisify(execFile)('sh', ['-ec', atHome(script!)], here)

    const open = (store: string) =>
      `import { open${store}Store } from '@fms/${store.toLowerCase()}-store'
       await open${store}Store('mongodb://127.0.0.1:1/x?serverSelectionTimeoutMS=1')`
    const programs = [
      ...readdirSync(join(root, 'services')).map((name) => [`services/${name}/src/main.ts`]),
      ...['Directory', 'Forms'].map((store) => ['--input-type=module', '-e', open(store)]),
    ]
    for (const program of programs) {
      const { stderr } = await promisify(execFile)(process.execPath, [...nodeOptions, ...program], {
        ...here,
        env: { ...env, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
        maxBuffer: 2 ** 26,
      }).catch((ended) => ended)
      const lines = (what: string) => stderr.match(new RegExp(`${what} transpile cache .*`, 'g')) ?? []
      expect(lines('no')).toEqual([])
      expect(lines('retrieving').length).toBeGreaterThan(20)
    }
  })

  it('runs as somebody who owns nothing', () => {
    expect(read('Dockerfile')).toMatch(/^USER node$/m)
  })
})

describe('deploy/nats-server.conf', () => {
  it.each(Object.keys(natsUsers) as (keyof typeof natsUsers)[])('allows %s what npm start allows', (name) => {
    const own = read('deploy/nats-server.conf')
      .split(/^ {4}\{$/m)
      .find((block) => block.includes(`user: ${name}\n`))!
    const subjects = (what: string) =>
      JSON.parse(new RegExp(`${what}: \\{ allow: (\\[[^\\]]*\\]) \\}`).exec(own)![1]!)

    const { users } = authorization(everyUser(() => ''))
    const { permissions } = users.find(({ user }) => user === name)!
    expect(subjects('publish')).toEqual(permissions.publish.allow)
    expect(subjects('subscribe')).toEqual(permissions.subscribe.allow)
    expect(own).toContain(`password: $NATS_${name.toUpperCase()}_PASSWORD`)
  })
})

describe('the cluster, rehearsed without containers', () => {
  it('comes up in order and takes a form from nothing to live', { timeout: 180_000 }, async () => {
    await using cluster = await rehearse()
    await cluster.formctl('user', 'create', '--email', 'demo@example.com')
    await cluster.formctl('organization', 'create', '--name', 'Demo', '--slug', 'demo')
    await cluster.formctl(
      'member',
      'add',
      '--organization',
      'demo',
      '--user',
      'demo@example.com',
      '--role',
      'editor',
    )
    const { key } = await cluster.formctl<{ key: string }>(
      'key',
      'create',
      '--user',
      'demo@example.com',
      '--name',
      'Demo',
    )

    const { stdout } = await promisify(execFile)(process.execPath, ['scripts/demo.ts'], {
      cwd: root,
      env: {
        HOST: '127.0.0.1',
        PORT: `${cluster.gatewayPort}`,
        DEMO_API_KEY: key,
        DEMO_ORGANIZATION: 'demo',
      },
    })

    expect(stdout).toMatch(/Done: create, edit, publish, read, list and delete all worked\.\n$/)
    expect(cluster.started.at(-1)).toBe('gateway')
  })
})
