import { type Collector, newTrace, startCollector } from '@fms/testkit/collector'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendRaw } from '../security/raw-http.ts'
import { type Account, publishable, type System, startSystem } from '../system.ts'

let collector: Collector
let system: System
let account: Account

beforeAll(async () => {
  collector = await startCollector()
  system = await startSystem({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    },
  })
  account = await system.account()
})
afterAll(async () => {
  await system[Symbol.asyncDispose]()
  await collector[Symbol.asyncDispose]()
})

/** Waits until a trace contains all these chains of spans. */
const expectChains = (traceId: string, chains: unknown[]) =>
  expect.poll(() => collector.chains(traceId), { timeout: 10_000 }).toEqual(expect.arrayContaining(chains))

const newForm = async () => {
  const { body } = await system.call(account, 'POST', account.forms, { form: publishable() })
  return `${account.forms}/${body.publicId}`
}

describe('with OTEL_EXPORTER_OTLP_ENDPOINT set', () => {
  it("a read continues its caller's trace through the gateway and two services to their stores", async () => {
    const path = await newForm()
    const { traceId, traceparent } = newTrace()
    const reader = await system.account({ in: account })

    await system.call(reader, 'GET', path, undefined, { traceparent })

    const gateway = 'gateway GET /v2/organizations/:organizationRef/forms/:formRef'
    const organizations = 'organizations POST /internal/authorize'
    const forms = 'forms GET /organizations/:organizationId/forms/:formRef'
    await expectChains(traceId, [
      gateway,
      `${gateway} > gateway POST > ${organizations}`,
      `${gateway} > gateway POST > ${organizations} > organizations authorize directory`,
      `${gateway} > gateway GET > ${forms}`,
      expect.stringMatching(/ > forms GET .* > forms get\w* forms$/),
    ])
    const root = collector.trace(traceId).find(({ name }) => gateway.endsWith(name))
    expect(root).toMatchObject({
      parentSpanId: traceparent.split('-')[2],
      attributes: { 'http.response.status_code': 200, 'user.id': reader.userId },
    })
  })

  it('pipelined reads continue their own traces, each with its own span in forms', async () => {
    const path = await newForm()
    const traces = [newTrace(), newTrace(), newTrace()]
    const gets = traces.map(
      ({ traceparent }) =>
        `GET /v2${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${account.apiKey}\r\ntraceparent: ${traceparent}\r\n\r\n`,
    )

    await sendRaw(Number(new URL(system.baseUrl).port), gets.join(''), { responses: gets.length })

    for (const { traceId } of traces)
      await expectChains(traceId, [expect.stringMatching(/^gateway GET .* > gateway GET > forms GET [^>]*$/)])
  })

  it('a publish is one trace from the gateway through NATS to the store of the publisher', async () => {
    const path = await newForm()
    const { traceId, traceparent } = newTrace()

    const { status } = await system.call(account, 'POST', `${path}/publish`, undefined, { traceparent })

    expect(status).toBe(200)
    const gateway = 'gateway POST /v2/organizations/:organizationRef/forms/:formRef/publish'
    const publisher = `${gateway} > gateway send publish.form > publisher process publish.form`
    await expectChains(traceId, [gateway, publisher])
    const storeChains = collector.chains(traceId).filter((chain) => / > publisher \w+ forms$/.test(chain))
    expect(storeChains).not.toEqual([])
    for (const chain of storeChains) expect(chain).toContain(publisher)
  })

  it('probes are not traced, and only traces are exported', async () => {
    const { traceId, traceparent } = newTrace()
    for (const probe of ['/healthz', '/readyz', '/metrics'])
      await fetch(`${system.urls.gateway}${probe}`, { headers: { traceparent } })

    // Spans of this later request are exported after those of the probes.
    const later = newTrace()
    await system.call(account, 'GET', account.forms, undefined, { traceparent: later.traceparent })
    await expectChains(later.traceId, [expect.stringMatching(/^gateway/)])

    expect(collector.trace(traceId)).toEqual([])
    expect([...collector.paths]).toEqual(['/v1/traces'])
  })
})
