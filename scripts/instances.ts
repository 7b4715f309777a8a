import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Service } from '@fms/testkit/processes'
import { GatewayConfig } from '../services/gateway/src/config.ts'

/** Whether several processes can listen on one port (`SO_REUSEPORT`): not on macOS and Windows. */
export const canSharePorts = async (): Promise<boolean> => {
  const server = createServer()
  try {
    server.listen({ port: 0, host: '127.0.0.1', reusePort: true })
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}

/**
 * Replaces services by `counts` processes each, by default one, that share the service's port. The `url` of a process is
 * then one of the free `ports`, for its probes and metrics. Together, the gateways have the limits of one.
 */
export const instancesOf = (
  services: readonly Service[],
  counts: Record<string, number>,
  ports: readonly number[],
): Service[] => {
  const unused = [...ports]
  return services.flatMap((service) => {
    const count = counts[service.name] ?? 1
    if (count === 1) return service
    const env = service.name === 'gateway' ? withShareOfLimits(service.env!, count) : service.env
    return Array.from({ length: count }, (_, index) => {
      const port = `${unused.shift()}`
      return {
        ...service,
        name: index === 0 ? service.name : `${service.name}-${index + 1}`,
        url: `http://127.0.0.1:${port}`,
        env: { ...env, PROBE_PORT: port },
      }
    })
  })
}

/** Limits of a gateway that bound what is in flight. The rate limit is shared by all gateways in any case. */
const isInFlightLimit = (name: string) => name.startsWith('MAX_REQUESTS') || name === 'MAX_KEY_LOOKUPS'

/** Divides the limits, and rounds up; 0 is no limit. The gateway rejects an invalid one itself. */
const withShareOfLimits = (env: NodeJS.ProcessEnv, count: number): NodeJS.ProcessEnv => {
  const shares = Object.entries(GatewayConfig.shape)
    .filter(([name]) => isInFlightLimit(name))
    .flatMap(([name, schema]) => {
      const { data } = schema.safeParse(env[name]?.trim() || undefined)
      return typeof data === 'number' ? [[name, `${Math.ceil(data / count)}`]] : []
    })
  return { ...env, ...Object.fromEntries(shares) }
}

/** Writes a file for `file_sd_configs` of Prometheus, which reads it again when it changes. The job is the service. */
export const writePrometheusTargets = (path: string, services: readonly Service[]): void => {
  const targets = services.map(({ name, url }) => ({
    labels: { job: name.replace(/-\d+$/, '') },
    targets: [new URL(url).host],
  }))
  writeFileSync(path, `${JSON.stringify(targets, null, 2)}\n`)
}
