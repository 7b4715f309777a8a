import { ConfigError, CorsOrigins, readConfig, TrustedProxies } from '@fms/service-kit/settings'
import { z } from 'zod'
import { readBaseUrl } from '../stores/running-system.ts'
import { type Check, ok, warn } from './check.ts'

const EdgeEnvironment = z.object({
  TRUST_PROXY: TrustedProxies.optional(),
  CORS_ORIGINS: CorsOrigins.optional(),
})

/** Checks which proxies the gateway believes, and whose pages may read its responses. */
export const checkEdge = async (env: NodeJS.ProcessEnv): Promise<Check[]> => {
  try {
    const { TRUST_PROXY = [], CORS_ORIGINS = [] } = readConfig(EdgeEnvironment, env)
    return [checkTrustProxy(TRUST_PROXY, await countUntrusted(env)), checkCorsOrigins(CORS_ORIGINS)]
  } catch (error) {
    // The check of the environment names the variable.
    if (error instanceof ConfigError) return []
    throw error
  }
}

const metricsTimeoutMs = 2_000

/** How many requests the running gateway has received from proxies that it does not trust; undefined if none responds. */
const countUntrusted = async (env: NodeJS.ProcessEnv): Promise<number | undefined> => {
  const baseUrl = env.FORMS_API_URL || readBaseUrl(env)
  if (!baseUrl) return undefined
  try {
    const response = await fetch(new URL('/metrics', baseUrl), {
      signal: AbortSignal.timeout(metricsTimeoutMs),
    })
    const [, count] = /^http_untrusted_forwarded_total (\d+)$/m.exec(await response.text()) ?? []
    return count === undefined ? undefined : Number(count)
  } catch {
    return undefined
  }
}

/** No network of proxies is larger; the shortest prefix of a private one is that of 10.0.0.0/8. */
const shortestPrefix = 8

/** @param untrusted requests with an `X-Forwarded-For` that the gateway ignored; undefined if it is not known. */
export const checkTrustProxy = (proxies: string[], untrusted: number | undefined): Check => {
  const check = 'TRUST_PROXY'
  const message = proxies.length > 0 ? `trusts ${proxies.join(', ')}` : 'is not set: no proxy is trusted'
  const wide = proxies.filter((each) => Number(each.split('/')[1] ?? shortestPrefix) < shortestPrefix)
  if (wide.length > 0) {
    return warn(
      check,
      `${message}; whoever connects from ${wide.join(', ')} chooses the address that limits and logs see`,
      'Name only the addresses of your proxies.',
    )
  }
  if (!untrusted) return ok(check, message)
  return warn(
    check,
    `${message}; the gateway ignored X-Forwarded-For in ${untrusted} requests since it started`,
    'If they come through your proxy, add its address: until then all its callers share the limits of one address.',
  )
}

/** Pages of this machine, which need no TLS. */
const isLocal = (origin: string): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|.*\.localhost)$/.test(new URL(origin).hostname)

export const checkCorsOrigins = (origins: '*' | string[]): Check => {
  const check = 'CORS_ORIGINS'
  if (origins === '*') {
    return warn(
      check,
      'is *: the pages of every origin may use the API with a key that they have',
      'Name the origins of your pages, unless pages that you do not know shall use the API.',
    )
  }
  if (origins.length === 0) return ok(check, 'is not set: pages of other origins may not use the API')
  const message = `allows ${origins.join(', ')}`
  const plain = origins.filter((each) => each.startsWith('http:') && !isLocal(each))
  if (plain.length === 0) return ok(check, message)
  return warn(
    check,
    `${message}; a page over http can be changed on its way, and then reads keys and forms`,
    `Serve it with TLS: ${plain.map((each) => each.replace('http:', 'https:')).join(', ')}.`,
  )
}
