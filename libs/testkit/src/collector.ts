import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The parts of an OTLP span that tests check. */
export interface Span {
  service: string
  name: string
  /** SpanKind of OTLP: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number
  traceId: string
  spanId: string
  parentSpanId: string
  attributes: Record<string, string | number>
  /** Status code of OTLP; 2 is an error. */
  status: number
  /** The message of the status. */
  message?: string | undefined
}

/** An OpenTelemetry collector for tests: receives OTLP over HTTP as JSON. */
export interface Collector extends AsyncDisposable {
  /** The value for `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  url: string
  /** Paths of the requests that it received. */
  paths: Set<string>
  /** The spans of a trace that it has received so far. */
  trace(traceId: string): Span[]
  /** Each span of a trace after its ancestors: `gateway GET /v2/forms > forms GET /forms`. */
  chains(traceId: string): string[]
}

export const startCollector = async (): Promise<Collector> => {
  const spans: Span[] = []
  const paths = new Set<string>()
  const server = createServer(async (request, response) => {
    paths.add(request.url!)
    const body = await bodyOf(request)
    if (request.url === '/v1/traces') spans.push(...spansOf(body))
    response.setHeader('content-type', 'application/json').end('{}')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))

  const trace = (traceId: string) => spans.filter((span) => span.traceId === traceId)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    paths,
    trace,
    chains: (traceId) => chainsOf(trace(traceId)),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

/** A new trace id with its `traceparent`, flagged as sampled (W3C Trace Context). */
export const newTrace = () => {
  const traceId = randomBytes(16).toString('hex')
  return { traceId, traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` }
}

const chainsOf = (trace: Span[]): string[] => {
  const byId = new Map(trace.map((span) => [span.spanId, span]))
  const chainOf = (span: Span): string => {
    const parent = byId.get(span.parentSpanId)
    return `${parent ? `${chainOf(parent)} > ` : ''}${span.service} ${span.name}`
  }
  return trace.map(chainOf)
}

const bodyOf = async (request: IncomingMessage) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return JSON.parse(Buffer.concat(chunks).toString())
}

interface Attribute {
  key: string
  value: { stringValue?: string; intValue?: number | string }
}

const valuesOf = (attributes: Attribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]))

interface Exported {
  resourceSpans: {
    resource: { attributes: Attribute[] }
    scopeSpans: {
      spans: (Omit<Span, 'attributes' | 'status'> & {
        attributes: Attribute[]
        status: { code?: number; message?: string }
      })[]
    }[]
  }[]
}

const spansOf = ({ resourceSpans }: Exported): Span[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name'])
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        service,
        attributes: valuesOf(span.attributes),
        status: span.status.code ?? 0,
        message: span.status.message,
      })),
    )
  })
