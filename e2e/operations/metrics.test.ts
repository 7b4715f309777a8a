import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { publishable, type System, startSystem } from '../system.ts'

const root = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

interface Rule {
  alert: string
  expr: string
}
interface Panel {
  targets?: { expr: string }[]
}

const alerts: Rule[] = parse(read('deploy/alerts.yml')).groups.flatMap(
  ({ rules }: { rules: Rule[] }) => rules,
)
const panels: Panel[] = JSON.parse(read('deploy/grafana-dashboard.json')).panels
const expressions = [
  ...alerts.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => ['dashboard', expr] as const)),
]

let system: System
/** What each service answers to `GET /metrics`, after a publish that worked and one that did not. */
const told: Record<string, string> = {}
const everything = () => Object.values(told).join('\n')

beforeAll(async () => {
  system = await startSystem()
  const account = await system.account()
  const { body } = await system.call(account, 'POST', account.forms, { form: publishable() })
  const { body: empty } = await system.call(account, 'POST', account.forms, { form: {} })
  await system.call(account, 'POST', `${account.forms}/${body.publicId}/publish`)
  await system.call(account, 'POST', `${account.forms}/${empty.publicId}/publish`)
  for (const [name, url] of Object.entries(system.urls))
    told[name] = await (await fetch(`${url}/metrics`)).text()
})
afterAll(() => system[Symbol.asyncDispose]())

/** Names of metrics in a query: what is no label, function or keyword. */
const metricsIn = (expr: string): string[] => {
  const bare = expr.replace(/\{[^}]*\}|\[[^\]]*\]|\b(by|without) *\([^)]*\)/g, ' ')
  return [...bare.matchAll(/\b(?!or\b)[a-z_]\w*\b(?! *\()/g)].map(([name]) => name)
}

const namesOf = (text: string) =>
  new Set([...text.matchAll(/^(?:# TYPE )?([a-z_]\w*)/gm)].map(([, name]) => name!))

/** A sample's value: undefined where it is not told. */
const sample = (service: string, series: string): number | undefined => {
  const line = told[service]!.split('\n').find((each) => each.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length))
}

describe('the running system', () => {
  it('tells what became of publishes', () => {
    const outcomes = ['published', 'refused', 'retried', 'dead'].map((outcome) =>
      sample('publisher', `publish_commands_total{outcome="${outcome}"}`),
    )
    expect(outcomes).toEqual([1, 1, 0, 0])
    expect(sample('publisher', 'publish_redeliveries_total')).toBe(0)
    expect(sample('publisher', 'publish_command_duration_seconds_count{outcome="published"}')).toBe(1)
    expect(sample('gateway', 'http_error_responses_total{reason="DRAFT_NOT_PUBLISHABLE"}')).toBe(1)
  })

  it('tells what waits in NATS, and who is connected to it', () => {
    for (const stream of ['PUBLISH', 'PUBLISH_DEAD'])
      expect(sample('publisher', `nats_stream_messages{stream="${stream}"}`)).toBe(0)
    for (const state of ['pending', 'unacknowledged']) {
      const waiting = (stream: string, consumer: string) =>
        `nats_consumer_messages{stream="${stream}",consumer="${consumer}",state="${state}"}`
      expect(sample('publisher', waiting('PUBLISH', 'publisher'))).toBe(0)
      expect(sample('forms', waiting('REPLIES', 'reply-counter'))).toBe(0)
    }
    for (const name of ['gateway', 'forms', 'publisher'])
      expect(sample(name, `nats_connected{client="${name}"}`)).toBe(1)
  })

  it('tells the state of each circuit', () => {
    for (const circuit of ['organizations', 'forms', 'authorize', 'publish'])
      expect(sample('gateway', `circuit_open{circuit="${circuit}"}`)).toBe(0)
    expect(sample('gateway', 'circuit_requests_total{circuit="publish",outcome="success"}')).toBe(2)
  })

  it('tells how long each store takes', () => {
    const calls = (store: string, operation: string) =>
      `store_operation_duration_seconds_count{store="${store}",engine="sqlite",operation="${operation}"}`
    expect(sample('forms', calls('forms', 'create'))).toBe(2)
    expect(sample('organizations', calls('directory', 'authorize'))).toBeGreaterThan(0)
    expect(told.publisher).toMatch(/^store_operation_duration_seconds_count\{store="forms",/m)
  })
})

describe('what is watched', () => {
  it.each(expressions)('%s asks for metrics that there are: %s', (_, expr) => {
    // `up` is Prometheus's own.
    const asked = metricsIn(expr).filter((name) => name !== 'up')

    expect(metricsIn(expr)).not.toEqual([])
    expect(asked.filter((name) => !namesOf(everything()).has(name))).toEqual([])
  })

  it('is asked of every service, wherever it runs', () => {
    const { scrape_configs, rule_files } = parse(read('deploy/prometheus.yml'))
    const { services } = parse(read('docker-compose.yml'), { merge: true })

    const names: string[] = scrape_configs.map(({ job_name }: { job_name: string }) => job_name)
    expect(names.toSorted()).toEqual(Object.keys(system.urls).toSorted())
    for (const { job_name, dns_sd_configs } of scrape_configs) {
      expect(dns_sd_configs).toMatchObject([{ names: [job_name], type: 'A' }])
      expect(String(dns_sd_configs[0].port)).toBe(services[job_name].environment.PORT)
    }
    expect(rule_files).toEqual(['alerts.yml'])
    const jobs = expressions.flatMap(([, expr]) => [...expr.matchAll(/job=~?"([^"]*)"/g)])
    for (const [, job] of jobs) expect(names).toEqual(expect.arrayContaining(job!.split('|')))
  })

  it('is explained: docs/operations.md names every alert, and every metric of ours', () => {
    const text = read('docs/operations.md')
    const named = new Set([...text.matchAll(/`([A-Za-z]\w*)/g)].map(([, name]) => name))
    const types = [...everything().matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!)
    const ours = types.filter((name) => !/^(process|nodejs)_/.test(name))

    expect(alerts.map(({ alert }) => alert).filter((alert) => !named.has(alert))).toEqual([])
    expect(ours.filter((name) => !named.has(name))).toEqual([])
  })
})
