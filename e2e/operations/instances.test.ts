import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { publishable } from '../system.ts'
import { call, npmStart, npmStop, processesOf, readOrEmpty, type Started } from './npm-start.ts'

let dataDir: string
let started: Started
/** Addresses of the ports that each process has of its own, by the name of the service. */
let addresses: Record<string, string[]>

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'instances-'))
  started = await npmStart(dataDir, { GATEWAYS: '2', FORMS: '2' })
  const targets: { labels: { job: string }; targets: [string] }[] = JSON.parse(
    readFileSync(join(dataDir, 'prometheus.json'), 'utf8'),
  )
  addresses = Object.fromEntries(
    [...Map.groupBy(targets, ({ labels }) => labels.job)].map(([job, all]) => [
      job,
      all.map(({ targets: [address] }) => address),
    ]),
  )
})
afterAll(async () => {
  await npmStop(started)
  rmSync(dataDir, { recursive: true, force: true })
})

/** Lists the forms on a connection of its own, which the system assigns to one of the gateways. */
const list = async () => {
  const { baseUrl, slug, apiKey } = started
  const headers = { 'x-api-key': apiKey }
  const url = `${baseUrl}/organizations/${slug}/forms`
  const [response] = await once(request(url, { agent: false, headers }).end(), 'response')
  await json(response)
  return response.statusCode as number
}

const lists = (count: number) => Promise.all(Array.from({ length: count }, list))

/** Whether the process has responded to a list. */
const hasListed = async (address: string) =>
  /^http_request_duration_seconds_count\{method="GET",route="[^"]*\/forms",status="200"\}/m.test(
    await (await fetch(`http://${address}/metrics`)).text(),
  )

const isReady = (address: string) =>
  fetch(`http://${address}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )

const pidAt = (address: string) => {
  const [, port] = address.split(':')
  return processesOf(dataDir).find((pid) =>
    readOrEmpty(`/proc/${pid}/environ`).includes(`PROBE_PORT=${port}\0`),
  )
}

describe('npm start with GATEWAYS=2 and FORMS=2', () => {
  it('runs two processes of each, all of which are ready and get requests', async () => {
    expect(Object.entries(addresses).map(([job, all]) => [job, all.length])).toEqual([
      ['organizations', 1],
      ['forms', 2],
      ['publisher', 1],
      ['gateway', 2],
    ])
    for (const address of Object.values(addresses).flat()) expect(await isReady(address)).toBe(true)

    for (const address of [...addresses.gateway!, ...addresses.forms!])
      while (!(await hasListed(address))) expect(await lists(16)).not.toContain(500)
  })

  it('creates and publishes', async () => {
    const forms = `/organizations/${started.slug}/forms`
    const form = publishable()
    const created = await Promise.all(
      Array.from({ length: 16 }, () => call(started, 'POST', forms, { form })),
    )
    const published = await Promise.all(
      created.map(({ body }) => call(started, 'POST', `${forms}/${body.publicId}/publish`)),
    )
    expect(new Set([...created, ...published].map(({ status }) => status))).toEqual(new Set([200]))
  })

  it.each(['gateway', 'forms'])('serves without a %s that was killed, and restarts it', async (service) => {
    const [, second] = addresses[service]!
    const pid = pidAt(second!)!

    process.kill(pid, 'SIGKILL')
    // Its listening sockets are closed then.
    while (existsSync(`/proc/${pid}`)) await delay(5)
    const statuses = new Set(await lists(8))

    expect(statuses).toEqual(new Set([200]))
    while (!(await isReady(second!))) await delay(50)
    expect(pidAt(second!)).not.toBe(pid)
  })

  it('leaves no process behind at Ctrl-C', async () => {
    started.child.kill('SIGINT')
    const [code] = await once(started.child, 'exit')

    expect(code).toBe(0)
    expect(processesOf(dataDir)).toEqual([])
  })
})
