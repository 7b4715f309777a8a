import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseEnv, promisify } from 'node:util'
import { authorization, forEveryUser, natsUsers } from '@fms/testkit/nats-users'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { mallocOptions, nodeOptions } from '../../scripts/services.ts'
import { operatorsEnv, readCompose, runOperatorSetup, startCluster } from './compose.ts'

const root = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const env = operatorsEnv()
const secrets = Object.keys(env).filter((name) => /(SECRET|PASSWORD|KEY)$/.test(name))
const { services, networks } = readCompose(env)
const all = Object.entries(services)
const ours = all.filter(([, { image }]) => image.startsWith('form-management:'))
const membersOf = (network: string) =>
  all.filter(([, each]) => each.networks?.includes(network)).map(([name]) => name)

describe.each(['docker-compose.yml', 'deploy/single/compose.yml'])('%s', (file) => {
  it('is valid by the Compose specification', () => {
    // dclint, a linter of Compose files, ships the specification's own schema.
    const package_ = dirname(createRequire(import.meta.url).resolve('dclint/package.json'))
    const { $schema: _, ...schema } = JSON.parse(
      readFileSync(join(package_, 'schemas/compose.schema.json'), 'utf8'),
    )
    const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })

    const isValid = ajv.validate(schema, parse(read(file), { merge: true }))

    expect(ajv.errors ?? []).toEqual([])
    expect(isValid).toBe(true)
  })

  it('mounts only existing files', () => {
    const compose = parse(read(file), { merge: true }) as { services: Record<string, { volumes?: string[] }> }
    const mounts = Object.values(compose.services).flatMap(({ volumes = [] }) => volumes)
    const files = mounts.filter((volume) => volume.startsWith('.')).map((volume) => volume.split(':')[0]!)

    expect(files).not.toEqual([])
    for (const each of files) expect(existsSync(resolve(root, dirname(file), each))).toBe(true)
  })
})

describe('docker-compose.yml', () => {
  it('runs every service of services/', () => {
    const folders = readdirSync(join(root, 'services'))

    expect(ours.map(([name]) => name).sort()).toEqual([...folders, 'migrate', 'formctl'].sort())
    for (const name of folders)
      expect(services[name]!.command).toEqual(['node', ...nodeOptions, `services/${name}/src/main.ts`])
  })

  it.each(all)('pins the image and limits the resources of %s', (_, { image, deploy }) => {
    expect(image).toMatch(/:v?\d+\.\d+\.\d+(-[\w.]+)?$/)
    expect(deploy.resources.limits).toEqual({ cpus: expect.any(String), memory: expect.any(String) })
  })

  it('publishes only the port of the gateway, and those of profiles', () => {
    const publishing = all.filter(([, { ports }]) => ports)

    expect(publishing.map(([name]) => name)).toEqual(['gateway', 'caddy', 'grafana'])
    expect(services.gateway!.ports).toEqual(['8080:8080'])
    expect(services.grafana!.ports).toEqual(['127.0.0.1:3000:3000'])
    expect(all.filter(([, each]) => each.profiles).map(([name, each]) => [name, each.profiles])).toEqual([
      ['formctl', ['tools']],
      ['caddy', ['tls']],
      ['prometheus', ['observability']],
      ['alertmanager', ['observability']],
      ['grafana', ['observability']],
      ['collector', ['observability']],
    ])
  })

  it.each([
    ['public', ['gateway']],
    ['web', ['caddy']],
    ['dashboards', ['grafana']],
    ['traces', ['collector']],
    ['notifications', ['alertmanager']],
  ])('has an external network %s only for %j', (network, members) => {
    expect(membersOf(network)).toEqual(members)
    expect(Object.keys(networks).filter((name) => !networks[name]!.internal)).toContain(network)
    expect(Object.keys(networks).filter((name) => !networks[name]!.internal)).toHaveLength(5)
  })

  it('lets only Prometheus, Alertmanager and Grafana into the metrics network, and Prometheus reach every service', () => {
    expect(membersOf('metrics')).toEqual(['prometheus', 'alertmanager', 'grafana'])
    for (const name of readdirSync(join(root, 'services'))) {
      expect(services.prometheus!.networks).toEqual(
        expect.arrayContaining([expect.toBeOneOf(services[name]!.networks!)]),
      )
    }
    expect(services.prometheus!.networks).not.toContain('stores')
  })

  it('makes gateways trust the network of caddy, which has no other member', () => {
    expect(membersOf('edge')).toEqual(['gateway', 'caddy'])
    expect(services.gateway!.environment!.TRUST_PROXY).toBe(networks.edge!.ipam!.config[0]!.subnet)
    expect(networks.edge!.internal).toBe(true)
  })

  it('gives the gateway no access to stores', () => {
    expect(services.gateway!.networks).not.toContain('stores')
    expect(services.mongo!.networks).toEqual(['stores'])
  })

  it('requires every secret', () => {
    expect(secrets).toHaveLength(14)
    for (const secret of secrets) {
      expect(() => readCompose({ ...operatorsEnv(), [secret]: '' })).toThrow(secret)
    }
  })

  it('starts no service with a sample secret', () => {
    const { environment } = services['check-secrets']!
    const waiting = ['mongo', 'nats', 'grafana'].map((name) => services[name]!.depends_on!['check-secrets'])

    expect(Object.keys(environment!)).toEqual(expect.arrayContaining(secrets))
    expect(waiting).toEqual(Array(3).fill({ condition: 'service_completed_successfully' }))
    expect(all.filter(([, each]) => !each.depends_on).map(([name]) => name)).toEqual([
      'check-secrets',
      'prometheus',
      'alertmanager',
      'collector',
    ])
  })

  it('gives each process its own MongoDB user, and no secret of another process', () => {
    const passwords = (name: string) =>
      secrets.filter((secret) =>
        Object.values(services[name]!.environment ?? {}).some((value) => value.includes(env[secret]!)),
      )

    expect(passwords('organizations')).toEqual(['INTERNAL_SECRET', 'MONGODB_ORGANIZATIONS_PASSWORD'])
    expect(passwords('forms')).toEqual(['INTERNAL_SECRET', 'MONGODB_FORMS_PASSWORD', 'NATS_FORMS_PASSWORD'])
    expect(passwords('publisher')).toEqual([
      'INTERNAL_SECRET',
      'MONGODB_PUBLISHER_PASSWORD',
      'NATS_PUBLISHER_PASSWORD',
    ])
    expect(passwords('gateway')).toEqual(['INTERNAL_SECRET', 'NATS_GATEWAY_PASSWORD'])
    expect(passwords('migrate')).toEqual(['MONGODB_FORMCTL_PASSWORD'])
    expect(passwords('grafana')).toEqual(['GRAFANA_ADMIN_PASSWORD'])
    expect(passwords('caddy')).toEqual([])
  })

  it('uses exactly the variables of .env.example', () => {
    const variables = new Set(
      [...read('docker-compose.yml').matchAll(/(?<!\$)\$\{(\w+)/g)].map(([, name]) => name),
    )

    expect([...variables].sort()).toEqual(Object.keys(operatorsEnv()).sort())
  })

  it('has the defaults of .env.example', () => {
    const example = parseEnv(read('.env.example'))
    const defaults = [...read('docker-compose.yml').matchAll(/(?<!\$)\$\{(\w+):-([^}]*)\}/g)]

    expect(defaults.length).toBeGreaterThan(18)
    expect(defaults.filter(([, name, value]) => example[name!] !== value)).toEqual([])
  })
})

describe('.env.example', () => {
  it('has the defaults of docs/operations.md', () => {
    const rows = [...read('docs/operations.md').matchAll(/^\| `([A-Z_]+)` \|(?: [^|]* \|)? (\d+)\b/gm)]
    const documented = Object.fromEntries(rows.map(([, name, value]) => [name, value]))
    const example = parseEnv(read('.env.example'))
    const numbers = Object.entries(example).filter(([, value]) => /^\d+$/.test(value!))

    expect(numbers.length).toBeGreaterThan(8)
    expect(documented).toMatchObject(Object.fromEntries(numbers))
  })

  it('has the defaults of the services', async () => {
    const example = parseEnv(read('.env.example'))
    const schemas = await Promise.all(
      readdirSync(join(root, 'services')).map((name) => import(join(root, `services/${name}/src/config.ts`))),
    )
    const needed = {
      ORGANIZATIONS_URL: 'http://a:1',
      FORMS_URL: 'http://b:1',
      NATS_URL: 'nats://c',
      PUBLIC_FORM_BASE_URL: 'https://d/f',
    }
    const stores = { DIRECTORY_STORE_URL: 'sqlite:d', FORMS_STORE_URL: 'sqlite:f' }
    for (const schema of schemas.flatMap(Object.values).filter((each) => each instanceof z.ZodObject)) {
      const defaults = schema.parse({ ...needed, ...stores, INTERNAL_SECRET: 's'.repeat(32) })
      const shared = Object.keys(defaults).filter((name) => /^\d+$/.test(example[name] ?? ''))

      expect(shared).not.toEqual([])
      for (const name of shared) expect([name, `${defaults[name]}`]).toEqual([name, example[name]])
    }
  })
})

describe('the profile observability', () => {
  const yaml = (file: string) => parse(read(file))
  const mountedAt = (name: string, target: string) =>
    services[name]!.volumes!.find((volume) => volume.split(':')[1] === target)?.split(':')[0]

  it('scrapes every service at its port', () => {
    const jobs: { job_name: string; dns_sd_configs: { names: string[]; port: number }[] }[] =
      yaml('deploy/prometheus.yml').scrape_configs

    expect(jobs.map(({ job_name }) => job_name).sort()).toEqual(readdirSync(join(root, 'services')).sort())
    for (const { job_name, dns_sd_configs } of jobs) {
      expect(dns_sd_configs).toMatchObject([{ names: [job_name], port: 8080 }])
      expect(services[job_name]!.environment!.PORT).toBe('8080')
    }
    expect(mountedAt('prometheus', '/etc/prometheus/prometheus.yml')).toBe('./deploy/prometheus.yml')
    expect(mountedAt('prometheus', '/etc/prometheus/alerts.yml')).toBe('./deploy/alerts.yml')
  })

  it('sends alerts to Alertmanager, which has a receiver for each severity', () => {
    const [{ static_configs }] = yaml('deploy/prometheus.yml').alerting.alertmanagers
    const { route, receivers } = yaml('deploy/alertmanager.yml')
    const names = receivers.map(({ name }: { name: string }) => name)

    expect(static_configs).toEqual([{ targets: ['alertmanager:9093'] }])
    expect(names.sort()).toEqual([route.receiver, route.routes[0].receiver].sort())
    expect(route.routes[0].matchers).toEqual(['severity="page"'])
    expect(mountedAt('alertmanager', '/etc/alertmanager/alertmanager.yml')).toBe('./deploy/alertmanager.yml')
  })

  it('provisions Grafana with Prometheus and the dashboard', () => {
    const [source] = yaml('deploy/grafana/datasources.yml').datasources
    const [provider] = yaml('deploy/grafana/dashboards.yml').providers
    const file = `${provider.options.path}/grafana-dashboard.json`

    expect(source).toMatchObject({ type: 'prometheus', url: 'http://prometheus:9090', isDefault: true })
    expect(mountedAt('grafana', file)).toBe('./deploy/grafana-dashboard.json')
    expect(services.grafana!.environment!.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH).toBe(file)
    expect(JSON.parse(read('deploy/grafana-dashboard.json')).panels.length).toBeGreaterThan(5)
  })

  it('has a collector at the address in .env.example, reachable by each service', () => {
    const { receivers, exporters, processors, service } = yaml('deploy/otel-collector.yml')
    const [, port] = /http:\/\/collector:(\d+)/.exec(read('.env.example'))!

    expect(receivers.otlp.protocols.http.endpoint).toBe(`0.0.0.0:${port}`)
    for (const { receivers: from, processors: by, exporters: to } of Object.values<Record<string, string[]>>(
      service.pipelines,
    )) {
      expect(Object.keys(receivers)).toEqual(from)
      expect(Object.keys(processors)).toEqual(by)
      expect(Object.keys(exporters)).toEqual(to)
    }
    for (const name of readdirSync(join(root, 'services'))) {
      const shared = services[name]!.networks!.filter((each) => services.collector!.networks!.includes(each))
      expect(shared).not.toEqual([])
    }
    expect(mountedAt('collector', '/etc/otelcol/config.yaml')).toBe('./deploy/otel-collector.yml')
  })
})

describe('Dockerfile', () => {
  it('passes the same options to Node as npm start', () => {
    // That of the last stage, which is the default.
    const [, command] = [...read('Dockerfile').matchAll(/^CMD (\[.*\])$/gm)].at(-1)!

    expect(JSON.parse(command!)).toEqual(['node', ...nodeOptions, 'services/gateway/src/main.ts'])
  })

  it('gives malloc the settings that npm start gives it', () => {
    for (const [name, value] of Object.entries(mallocOptions))
      expect(read('Dockerfile')).toMatch(new RegExp(`^(ENV | ).*\\b${name}=${value}\\b`, 'm'))
  })

  it('pins the Node version of the tests', () => {
    expect(read('Dockerfile')).toMatch(`FROM node:${process.versions.node}-slim`)
  })

  it('contains the compile cache, so that no service strips types when it starts', async () => {
    const [, script] = /^USER node\nRUN ((?:.*\\\n)*.*)$/m.exec(read('Dockerfile'))!
    await using cache = await mkdtempDisposable(join(tmpdir(), 'compiled-'))
    const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: cache.path, NODE_ENV: 'production' }
    const withLocalPaths = (script: string) =>
      script.replaceAll('/app/', `${root}/`).replaceAll(' .cache', ` ${cache.path}`)
    const options = { cwd: root, env }
    await promisify(execFile)('sh', ['-ec', withLocalPaths(script!)], options)

    const open = (store: string) =>
      `import { open${store}Store } from '@fms/${store.toLowerCase()}-store'
       await open${store}Store('mongodb://127.0.0.1:1/x?serverSelectionTimeoutMS=1')`
    const programs = [
      ...readdirSync(join(root, 'services')).map((name) => [`services/${name}/src/main.ts`]),
      ...['Directory', 'Forms'].map((store) => ['--input-type=module', '-e', open(store)]),
    ]
    const checks = programs.map(async (program) => {
      const { stderr } = await promisify(execFile)(process.execPath, [...nodeOptions, ...program], {
        ...options,
        env: { ...env, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
        maxBuffer: 2 ** 26,
      }).catch((ended) => ended)
      const lines = (what: string) => stderr.match(new RegExp(`${what} transpile cache .*`, 'g')) ?? []
      expect(lines('no')).toEqual([])
      expect(lines('retrieving').length).toBeGreaterThan(20)
    })
    await Promise.all(checks)
  })

  it('runs as an unprivileged user', () => {
    expect(read('Dockerfile')).toMatch(/^USER node$/m)
  })
})

describe('deploy/nats-server.conf', () => {
  it.each(Object.keys(natsUsers) as (keyof typeof natsUsers)[])(
    'gives %s the same permissions as npm start',
    (name) => {
      const own = read('deploy/nats-server.conf')
        .split(/^ {4}\{$/m)
        .find((block) => block.includes(`user: ${name}\n`))!
      const subjects = (what: string) =>
        JSON.parse(new RegExp(`${what}: \\{ allow: (\\[[^\\]]*\\]) \\}`).exec(own)![1]!)

      const { users } = authorization(forEveryUser(() => ''))
      const { permissions } = users.find(({ user }) => user === name)!
      expect(subjects('publish')).toEqual(permissions.publish.allow)
      expect(subjects('subscribe')).toEqual(permissions.subscribe.allow)
      expect(own).toContain(`password: $NATS_${name.toUpperCase()}_PASSWORD`)
    },
  )
})

describe('the cluster without containers', () => {
  it('starts in order and publishes a form', { timeout: 180_000 }, async () => {
    await using cluster = await startCluster()

    const stdout = await runOperatorSetup(cluster)

    expect(stdout).toMatch(/Done: create, edit, publish, read, list and delete all worked\.\n$/)
    expect(cluster.started.at(-1)).toBe('gateway')
  })
})
