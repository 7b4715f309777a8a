import { join } from 'node:path'
import type { NatsUser } from '@fms/testkit/nats-users'
import type { Service } from '@fms/testkit/processes'
import type { StartConfig } from './start-config.ts'

/**
 * V8 options of each service, the same as in docker-compose.yml:
 * - semi-spaces of 8 MiB, so that most objects of a request die before they are copied. With 4 MiB, a list takes up to 1.5
 *   times the CPU time; with 16 MiB, forms peaks at 403 MiB under attack instead of 326, and no request is faster.
 * - compiler memory in pages that V8 returns to the system, not in malloc's. NODE_OPTIONS does not accept this option.
 * - one background thread for V8 instead of four: where cores are scarce, the event loop waits for helpers of the garbage
 *   collector that have none. A get takes 7% less CPU time, and its p99 is a third shorter.
 * - no pool of large pages: V8 keeps up to 32 MiB of them for the next large strings, such as drafts. Without it, forms takes
 *   200 MiB after pages of 4 MiB instead of 280.
 */
export const nodeOptions = [
  '--max-semi-space-size=8',
  '--managed-zone-memory',
  '--v8-pool-size=1',
  '--no-large-page-pool',
]

/**
 * An old generation of at most 1 GiB. By default, V8 derives the limit from the memory of the container or the machine. On a
 * large machine it then lets more garbage of large drafts pile up: forms peaks at 445 MiB under attack instead of 276.
 */
const oldGenerationLimit = '--max-old-space-size=1024'

/**
 * Settings of glibc's malloc that limit fragmentation: one arena for all threads, and a separate mapping for each buffer of
 * 128 KiB or more, which returns to the system when it is freed. With large drafts, forms peaks at 333 MiB instead of 421.
 * The Dockerfile has the same settings.
 */
export const mallocOptions = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072' }

export interface ServicesOptions {
  config: StartConfig
  internalSecret: string
  natsUrls: Record<NatsUser, string>
  /** Free ports of 127.0.0.1 for organizations, forms and publisher. */
  ports: number[]
}

/** The four services with their environments. The gateway comes last, so that it stops first. */
export function services({ config, internalSecret, natsUrls, ports }: ServicesOptions): Service[] {
  const { DIRECTORY_STORE_URL, FORMS_STORE_URL, LOG_LEVEL, LOG_FORMAT } = config
  const publicFormBaseUrl = config.PUBLIC_FORM_BASE_URL ?? `${urlOf(config.HOST, config.PORT)}/f`
  const service = (name: string, host: string, port: number, own: NodeJS.ProcessEnv): Service => ({
    name,
    url: urlOf(host, port),
    args: [...nodeOptions, oldGenerationLimit, join(import.meta.dirname, '../services', name, 'src/main.ts')],
    env: {
      ...mallocOptions,
      ...process.env,
      DEMO_API_KEY: undefined,
      PROBE_PORT: undefined,
      HOST: host,
      PORT: `${port}`,
      INTERNAL_SECRET: internalSecret,
      PUBLIC_FORM_BASE_URL: publicFormBaseUrl,
      LOG_LEVEL,
      LOG_FORMAT,
      // Draining is pointless with one instance of each service.
      DRAIN_MS: process.env.DRAIN_MS?.trim() || '0',
      ...own,
    },
  })
  const inner = (name: string, port: number, own: NodeJS.ProcessEnv) => service(name, '127.0.0.1', port, own)

  const [organizationsPort, formsPort, publisherPort] = ports as [number, number, number]
  const organizations = inner('organizations', organizationsPort, { DIRECTORY_STORE_URL })
  const forms = inner('forms', formsPort, { FORMS_STORE_URL, NATS_URL: natsUrls.forms })
  const publisher = inner('publisher', publisherPort, { FORMS_STORE_URL, NATS_URL: natsUrls.publisher })
  const gateway = service('gateway', config.HOST, config.PORT, {
    ORGANIZATIONS_URL: organizations.url,
    FORMS_URL: forms.url,
    NATS_URL: natsUrls.gateway,
  })
  return [organizations, forms, publisher, gateway]
}

const wildcardAddresses = ['0.0.0.0', '[::]']

/** `http://host:port` of a server, as this machine reaches it. A wildcard address becomes 127.0.0.1. */
export function urlOf(host: string, port: number): string {
  const url = new URL(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)
  return wildcardAddresses.includes(url.hostname) ? `http://127.0.0.1:${port}` : url.origin
}
