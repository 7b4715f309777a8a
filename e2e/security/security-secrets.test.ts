import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempDisposable } from 'node:fs/promises'
import { request } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { identityHeader } from '@fms/contracts'
import { createIdentitySigner } from '@fms/service-kit'
import { freePorts } from '@fms/testkit/ports'
import { spawnWithParent, terminate } from '@fms/testkit/processes'
import { describe, expect, it } from 'vitest'
import { newAccount } from '../system.ts'

type Name = 'organizations' | 'forms' | 'gateway'
/** Services that verify identities and page tokens. The gateway only signs identities. */
const verifying: Name[] = ['organizations', 'forms']

type Secrets = { INTERNAL_SECRET: string; INTERNAL_SECRET_ALSO_ACCEPTED?: string }

/** A TCP load balancer: one port in front of changing processes. */
const startLoadBalancer = async () => {
  const connections = new Map<Socket, number>()
  const targets: number[] = []
  let turn = 0
  const server = createServer((client) => {
    const target = targets[turn++ % targets.length]!
    connections.set(client, target)
    const service = connect(target, '127.0.0.1')
    client.on('error', () => service.destroy()).on('close', () => connections.delete(client))
    service.on('error', () => client.destroy())
    client.pipe(service).pipe(client)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    targets,
    port: (server.address() as AddressInfo).port,
    /** Resolves when the last connection to a removed target has ended. */
    async drained(target: number) {
      const old = [...connections].filter(([, port]) => port === target)
      await Promise.all(old.map(([socket]) => new Promise((closed) => socket.once('close', closed))))
    },
    stop: () => void server.close(),
  }
}

/** Organizations, gateway and two instances of forms, which read each other's page tokens. */
const startDeployment = async () => {
  await using starting = new AsyncDisposableStack()
  const folder = starting.use(await mkdtempDisposable(join(tmpdir(), 'rotation-')))
  const balancers = {
    organizations: await startLoadBalancer(),
    forms: await startLoadBalancer(),
    gateway: await startLoadBalancer(),
  }
  for (const balancer of Object.values(balancers)) starting.defer(balancer.stop)
  const instances: { name: Name; port: number; child: ChildProcess }[] = []
  starting.defer(async () => void (await Promise.all(instances.map(({ child }) => terminate(child)))))
  const directoryStoreUrl = `sqlite:${join(folder.path, 'directory.db')}`

  const start = async (name: Name, secrets: Secrets) => {
    const [port] = (await freePorts(1)) as [number]
    const child = spawnWithParent({
      name,
      args: [join(import.meta.dirname, '../../services', name, 'src/main.ts')],
      env: {
        PORT: `${port}`,
        LOG_LEVEL: 'fatal',
        DIRECTORY_STORE_URL: directoryStoreUrl,
        FORMS_STORE_URL: `sqlite:${join(folder.path, 'forms.db')}`,
        ORGANIZATIONS_URL: `http://127.0.0.1:${balancers.organizations.port}`,
        FORMS_URL: `http://127.0.0.1:${balancers.forms.port}`,
        NATS_URL: 'nats://127.0.0.1:1',
        PUBLIC_FORM_BASE_URL: 'https://forms.example/f',
        RATE_LIMIT_PER_MINUTE: '0',
        DRAIN_MS: '100',
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        ...secrets,
      },
    })
    const instance = { name, port, child }
    instances.push(instance)
    const isHealthy = () =>
      fetch(`http://127.0.0.1:${port}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      )
    while (!(await isHealthy())) {
      if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`)
      await delay(100)
    }
    balancers[name].targets.push(port)
    return instance
  }

  /** Starts the new process before it stops the old one. */
  const replace = async (old: (typeof instances)[number], secrets: Secrets) => {
    await start(old.name, secrets)
    const { targets, drained } = balancers[old.name]
    targets.splice(targets.indexOf(old.port), 1)
    // Clients open a connection per request. The gateway has keep-alive connections and retries a read when one ends.
    if (old.name === 'gateway') await drained(old.port)
    await terminate(old.child)
    instances.splice(instances.indexOf(old), 1)
  }
  const started = starting.move()
  return {
    balancers,
    directoryStoreUrl,
    start: (secrets: Secrets) =>
      Promise.all(
        (['organizations', 'forms', 'forms', 'gateway'] as const).map((name) => start(name, secrets)),
      ),
    /** Replaces the processes of the services, one after another. */
    async roll(names: Name[], secrets: Secrets) {
      const affected = instances.filter(({ name }) => names.includes(name))
      for (const instance of affected) await replace(instance, secrets)
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}

describe('INTERNAL_SECRET', () => {
  it('is rotated in three rolling restarts without a failed request; page tokens stay valid until the third', async () => {
    const [old, young] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')]
    await using deployment = await startDeployment()
    await deployment.start({ INTERNAL_SECRET: old })
    const { apiKey, forms } = await newAccount(deployment.directoryStoreUrl)

    /** Sends a request on a new connection, so that no failure comes from connection reuse. */
    const call = async (
      path: string,
      { form, ...headers }: { form?: object } & Record<string, unknown> = {},
    ) => {
      const sent = request({
        port: deployment.balancers.gateway.port,
        path: `/v2${path}`,
        method: form ? 'POST' : 'GET',
        agent: false,
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json', ...(headers as object) },
      }).end(form && JSON.stringify({ form }))
      const [response] = await once(sent, 'response')
      // biome-ignore lint/suspicious/noExplicitAny: tests read members of bodies of many shapes
      return { status: response.statusCode as number, body: (await json(response)) as any }
    }
    const page = (pageToken = '') => call(`${forms}?pageSize=1&pageToken=${pageToken}`)
    for (const name of ['A', 'B', 'C']) expect((await call(forms, { form: { name } })).status).toBe(200)

    const tokens: string[] = [(await page()).body.nextPageToken]
    const statuses = new Map<number, number>()
    let rolling = true
    const readers = Array.from({ length: 2 }, async () => {
      while (rolling) {
        const first = await page()
        const responses = [first, await page(first.body.nextPageToken), await page(tokens[0])]
        await delay(100)
        for (const { status } of responses) statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    })

    await deployment.roll(verifying, { INTERNAL_SECRET: old, INTERNAL_SECRET_ALSO_ACCEPTED: young })
    tokens.push((await page()).body.nextPageToken)
    await deployment.roll([...verifying, 'gateway'], {
      INTERNAL_SECRET: young,
      INTERNAL_SECRET_ALSO_ACCEPTED: old,
    })
    tokens.push((await page()).body.nextPageToken)
    expect((await Promise.all(tokens.map(page))).map(({ status }) => status)).toEqual([200, 200, 200])
    rolling = false
    await Promise.all(readers)
    await deployment.roll(verifying, { INTERNAL_SECRET: young })

    expect([...statuses.keys()]).toEqual([200])
    expect((await Promise.all(tokens.map(page))).map(({ status }) => status)).toEqual([400, 400, 200])
    const direct = await Promise.all(
      [old, young].map((secret) =>
        fetch(`http://127.0.0.1:${deployment.balancers.organizations.port}/internal/authorize`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            [identityHeader]: createIdentitySigner(secret)({ service: 'gateway' }),
          },
          body: JSON.stringify({ keyHash: 'none' }),
        }),
      ),
    )
    expect(direct.map(({ headers }) => headers.get('www-authenticate'))).toEqual([
      'FmsIdentity',
      'ApiKey realm="forms"',
    ])
  })
})
