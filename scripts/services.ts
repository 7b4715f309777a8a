import { join } from 'node:path'
import type { NatsUser } from '@fms/testkit/nats-users'
import type { Service } from '@fms/testkit/processes'
import type { StartConfig } from './start-config.ts'

/**
 * What keeps a service quick and small: a young generation of 16 MiB, so that what a request makes is dead before it is
 * copied (of 4 MiB, a list takes half as much CPU again); and compilers that work in pages which go back to the system, not
 * in malloc's, which stay.
 * NODE_OPTIONS takes only the first of these. docker-compose.yml says the same.
 */
export const nodeOptions = ['--max-semi-space-size=16', '--managed-zone-memory']

/**
 * Settings of glibc's malloc that limit fragmentation: one arena for all threads, and an allocation of its own, which goes
 * back to the system when it is freed, for each buffer of 128 KiB or more. With large drafts, forms peaks at 333 MiB
 * instead of 421. The Dockerfile sets the same.
 */
export const mallocOptions = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072' }

export interface Surroundings {
  config: StartConfig
  internalSecret: string
  natsUrls: Record<NatsUser, string>
  /** Free ones of 127.0.0.1 for organizations, forms and publisher. */
  ports: number[]
}

/** The four services, each with the environment that is its own. The gateway comes last, so that it stops first. */
export function services({ config, internalSecret, natsUrls, ports }: Surroundings): Service[] {
  const { DIRECTORY_STORE_URL, FORMS_STORE_URL, LOG_LEVEL, LOG_FORMAT } = config
  const publicFormBaseUrl = config.PUBLIC_FORM_BASE_URL ?? `${urlOf(config.HOST, config.PORT)}/f`
  const service = (name: string, host: string, port: number, own: NodeJS.ProcessEnv): Service => ({
    name,
    url: urlOf(host, port),
    args: [...nodeOptions, join(import.meta.dirname, '../services', name, 'src/main.ts')],
    env: {
      ...mallocOptions,
      ...process.env,
      DEMO_API_KEY: undefined,
      HOST: host,
      PORT: `${port}`,
      INTERNAL_SECRET: internalSecret,
      PUBLIC_FORM_BASE_URL: publicFormBaseUrl,
      LOG_LEVEL,
      LOG_FORMAT,
      // There is one of each: nobody to move over to.
      DRAIN_MS: process.env.DRAIN_MS ?? '0',
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

const everyAddress = ['0.0.0.0', '[::]']

/** `http://host:port`, where this machine reaches a server. A host that means every address is reached by the loopback. */
export function urlOf(host: string, port: number): string {
  const url = new URL(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)
  return everyAddress.includes(url.hostname) ? `http://127.0.0.1:${port}` : url.origin
}
