import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createApp } from '@fms/service-kit'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { operatorsEnv, readCompose } from '../compose/compose.ts'
import { runMongoInit } from '../compose/mongosh.ts'

const root = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const documentsOf = (file: string) =>
  parseAllDocuments(read(`deploy/kubernetes/${file}`)).map((each) => each.toJS())

interface EnvVar {
  name: string
  value?: string
  valueFrom?: { secretKeyRef: { name: string; key: string } }
}

/** A role of MongoDB's commands. */
interface Role {
  role: string
  db: string
}

const [pod, http] = [...documentsOf('pod.yaml'), ...documentsOf('http.yaml')].map(
  ({ spec }) => spec.template.spec.containers[0],
)
const [kustomization] = documentsOf('kustomization.yaml')
const settings: Record<string, string> = Object.fromEntries(
  kustomization.configMapGenerator[0].literals.map((line: string) => line.split(/=(.*)/)),
)
const services = readdirSync(join(root, 'services'))
const deployments = [...documentsOf('services.yaml'), ...documentsOf('formctl.yaml')]
  .filter(({ kind }) => kind === 'Deployment')
  .map(({ metadata: { name }, spec }) => ({
    name: name as string,
    container: spec.template.spec.containers[0],
  }))

/** docker-compose.yml with the variable of Kubernetes in place of each value of `.env`. */
const compose = readCompose(
  Object.fromEntries(Object.keys(operatorsEnv()).map((name) => [name, `$(${name})`])),
)
const onKubernetes = (url: string) => url.replace('@mongo:', '@mongodb-svc:').replace('=rs0', '=mongodb')

describe('deploy/kubernetes', () => {
  it('has a Deployment and a Service for each service', () => {
    const named = (kind: string) =>
      documentsOf('services.yaml')
        .filter((each) => each.kind === kind)
        .map(({ metadata }) => metadata.name)
        .sort()

    expect(named('Deployment')).toEqual(services)
    expect(named('Service')).toEqual(services)
  })

  it.each(deployments)(
    'gives $name the stores, NATS and secrets that it has in Compose',
    ({ name, container }) => {
      const { environment } = compose.services[name]!
      const env: EnvVar[] = [...container.env, ...pod.env]
      const urls = Object.entries(environment!).filter(([, value]) => value.includes('_PASSWORD)'))
      const secrets = new Set(JSON.stringify(environment).match(/\w+(SECRET|PASSWORD|KEY)(?=\))/g))

      expect(env.filter(({ value }) => value)).toEqual(
        expect.arrayContaining(urls.map(([name, url]) => ({ name, value: onKubernetes(url) }))),
      )
      expect(env).toHaveLength(urls.length + secrets.size)
      for (const { name, valueFrom } of env.filter(({ value }) => !value)) {
        expect(secrets).toContain(name)
        expect(valueFrom!.secretKeyRef).toEqual({ name: 'form-management', key: name })
      }
    },
  )

  it.each(services)('starts %s as in Compose, with all variables that it requires', async (name) => {
    const { container } = deployments.find((each) => each.name === name)!
    const schemas: unknown[] = Object.values(await import(join(root, `services/${name}/src/config.ts`)))
    const config = schemas.find((each) => each instanceof z.ZodObject)!
    const env = [...pod.env, ...http.env, ...container.env].map(({ name, value }: EnvVar) => [
      name,
      value ?? 's'.repeat(32),
    ])

    expect(container.command).toEqual(compose.services[name]!.command)
    expect(config.parse({ ...settings, ...Object.fromEntries(env) })).toBeDefined()
  })

  it('sets no variable that no service reads', () => {
    const known = new Set(services.flatMap((name) => Object.keys(compose.services[name]!.environment!)))

    expect(
      [...Object.keys(settings), ...http.env.map(({ name }: EnvVar) => name)].filter(
        (each) => !known.has(each),
      ),
    ).toEqual([])
  })

  it('probes what the image serves', async () => {
    const app = createApp({ logger: pino({ level: 'silent' }) })
    const { startupProbe, livenessProbe, readinessProbe, ports } = http

    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
      expect((await app.inject(httpGet.path)).statusCode).toBe(200)
      expect(httpGet.port).toBe(ports[0].name)
    }
    expect(livenessProbe.httpGet.path).not.toBe(readinessProbe.httpGet.path)
    expect(read('Dockerfile')).toMatch(new RegExp(`^EXPOSE ${ports[0].containerPort}$`, 'm'))
  })

  it('has the versions and limits of Compose', () => {
    const [image] = kustomization.images
    const { cpus, memory } = compose.services.gateway!.deploy.resources.limits
    const nats = parse(read('deploy/kubernetes/nats-values.yaml'))

    expect(`${image.name}:${image.newTag}`).toBe(compose.services.gateway!.image)
    expect(pod.resources.limits).toEqual({ cpu: cpus, memory: memory.replace('M', 'Mi') })
    expect(`nats:${nats.container.image.tag}`).toBe(compose.services.nats!.image)
    expect(`mongo:${documentsOf('mongodb.yaml')[0].spec.version}`).toBe(compose.services.mongo!.image)
  })

  it('has the users of NATS and MongoDB', () => {
    const { env } = parse(read('deploy/kubernetes/nats-values.yaml')).container
    const passwords = Object.keys(compose.services.nats!.environment!)
    const [{ spec }] = documentsOf('mongodb.yaml')
    const created: unknown[] = []
    runMongoInit(({ createUser: name, roles, ...command }) => {
      if (name) created.push({ name, roles: (roles as Role[]).map(({ role, db }) => ({ name: role, db })) })
      return command.usersInfo ? { users: [] } : { isWritablePrimary: true }
    }, {})

    expect(Object.keys(env).filter((name) => name.startsWith('NATS_'))).toEqual(passwords)
    for (const name of passwords) {
      const bare = name.replace('NATS_', 'BARE_')
      expect(env[name]).toBe(`"$(${bare})"`)
      expect(env[bare].valueFrom.secretKeyRef).toEqual({ name: 'form-management', key: name })
    }
    expect(spec.users.map(({ name, roles }: { name: string; roles: object[] }) => ({ name, roles }))).toEqual(
      created,
    )
    for (const { name, passwordSecretRef } of spec.users)
      expect(passwordSecretRef).toEqual({
        name: 'form-management',
        key: `MONGODB_${name.toUpperCase()}_PASSWORD`,
      })
    expect(compose.services.mongo!.command).toContain(
      `--setParameter=transactionLifetimeLimitSeconds=${spec.additionalMongodConfig['setParameter.transactionLifetimeLimitSeconds']}`,
    )
  })
})
