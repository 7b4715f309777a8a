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
/** The metrics of each service after a successful and a failed publish. */
const metricsOf: Record<string, string> = {}
const allMetrics = () => Object.values(metricsOf).join('\n')

beforeAll(async () => {
  system = await startSystem()
  const account = await system.account()
  const { body } = await system.call(account, 'POST', account.forms, { form: publishable() })
  const { body: empty } = await system.call(account, 'POST', account.forms, { form: {} })
  await system.call(account, 'POST', `${account.forms}/${body.publicId}/publish`)
  await system.call(account, 'POST', `${account.forms}/${empty.publicId}/publish`)
  for (const [name, url] of Object.entries(system.urls))
    metricsOf[name] = await (await fetch(`${url}/metrics`)).text()
})
afterAll(() => system[Symbol.asyncDispose]())

/** Names of metrics in a query: every word that is not a label, function or keyword. */
const metricNamesIn = (expr: string): string[] => {
  const bare = expr.replace(/\{[^}]*\}|\[[^\]]*\]|\b(by|without) *\([^)]*\)/g, ' ')
  return [...bare.matchAll(/\b(?!or\b)[a-z_]\w*\b(?! *\()/g)].map(([name]) => name)
}

const namesOf = (text: string) =>
  new Set([...text.matchAll(/^(?:# TYPE )?([a-z_]\w*)/gm)].map(([, name]) => name!))

/** The value of a sample; undefined when the service does not export it. */
const sample = (service: string, series: string): number | undefined => {
  const line = metricsOf[service]!.split('\n').find((each) => each.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length))
}

describe('GET /metrics', () => {
  it('counts publishes by outcome', () => {
    const outcomes = ['published', 'refused', 'retried', 'dead'].map((outcome) =>
      sample('publisher', `publish_commands_total{outcome="${outcome}"}`),
    )
    expect(outcomes).toEqual([1, 1, 0, 0])
    expect(sample('publisher', 'publish_redeliveries_total')).toBe(0)
    expect(sample('publisher', 'publish_command_duration_seconds_count{outcome="published"}')).toBe(1)
    expect(sample('gateway', 'http_error_responses_total{reason="DRAFT_NOT_PUBLISHABLE"}')).toBe(1)
  })

  it('has the queues and connections of NATS', () => {
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

  it('counts recorded events by type in the service that changes the form', () => {
    const recorded = (service: string) =>
      ['form.created', 'form.updated', 'form.published'].map((type) =>
        sample(service, `events_recorded_total{type="${type}"}`),
      )
    expect(recorded('forms')).toEqual([2, 0, 0])
    expect(recorded('publisher')).toEqual([0, 0, 1])
  })

  it('has the state of each circuit', () => {
    for (const circuit of ['organizations', 'forms', 'authorize', 'publish'])
      expect(sample('gateway', `circuit_open{circuit="${circuit}"}`)).toBe(0)
    expect(sample('gateway', 'circuit_requests_total{circuit="publish",outcome="success"}')).toBe(2)
  })

  it('has the duration of store operations', () => {
    const calls = (store: string, operation: string) =>
      `store_operation_duration_seconds_count{store="${store}",engine="sqlite",operation="${operation}"}`
    expect(sample('forms', calls('forms', 'create'))).toBe(2)
    expect(sample('organizations', calls('directory', 'authorize'))).toBeGreaterThan(0)
    expect(metricsOf.publisher).toMatch(/^store_operation_duration_seconds_count\{store="forms",/m)
  })
})

describe('monitoring', () => {
  it.each(expressions)('%s queries existing metrics: %s', (_, expr) => {
    // Prometheus creates `up`.
    const queried = metricNamesIn(expr).filter((name) => name !== 'up')

    expect(metricNamesIn(expr)).not.toEqual([])
    expect(queried.filter((name) => !namesOf(allMetrics()).has(name))).toEqual([])
  })

  it('scrapes every instance of every service', () => {
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

  it('is documented: docs/operations.md names every metric of the services', () => {
    const text = read('docs/operations.md')
    const named = new Set([...text.matchAll(/`([A-Za-z]\w*)/g)].map(([, name]) => name))
    const types = [...allMetrics().matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!)
    const ours = types.filter((name) => !/^(process|nodejs)_/.test(name))

    expect(ours.filter((name) => !named.has(name))).toEqual([])
  })
})
