import type { ConnectionOptions } from 'nats'
import { z } from 'zod'

const isHttpUrl = (url: string): boolean =>
  URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol)

/** The origin of a service, `http://host:port`, without the slash that may end it: the services' routes begin at the root. */
export const ServiceOrigin = z
  .string({ error: 'is required: http://host:port' })
  .refine((url) => isHttpUrl(url) && new URL(url).href === `${new URL(url).origin}/`, {
    error: 'must be http://host:port',
  })
  .transform((url) => new URL(url).origin)

/** The base URL of an OpenTelemetry collector; it may have a path. */
export const CollectorUrl = z.string().refine(isHttpUrl, { error: 'must be a URL such as http://host:4318' })

const isNatsUrl = (url: string): boolean => {
  try {
    const { protocol, host, username, password } = new URL(url)
    for (const each of [username, password]) decodeURIComponent(each)
    return ['nats:', 'tls:'].includes(protocol) && host !== ''
  } catch {
    return false
  }
}

/** One or more servers of NATS, separated by commas: `nats://user:password@host:port`. Errors do not repeat the URL. */
export const NatsUrl = z
  .string({ error: 'is required: nats://user:password@host:port' })
  .refine((urls) => urls.split(',').every(isNatsUrl), {
    error: 'must be nats://user:password@host:port, with %XX for special characters of user and password',
  })

/** The URL of a store: `sqlite:PATH`, or `mongodb://…/DATABASE`, also with `mongodb+srv:`. Errors do not repeat the URL. */
export const StoreUrl = z
  .string({ error: 'is required: the store, such as sqlite:.data/forms.db or mongodb://host:port/database' })
  .refine((url) => /^sqlite:.|^mongodb(\+srv)?:\/\/[^/]+\/[^/?]/.test(url), {
    error: 'must be sqlite:PATH or mongodb://host:port/database',
  })

/** Prefix of a form's public id in its `publicUrl`, without a slash at its end. It has no query and no fragment. */
export const PublicFormBaseUrl = z
  .string({ error: 'is required: where respondents find forms, such as https://forms.example.com/f' })
  .refine((url) => isHttpUrl(url) && !/[?#]/.test(url), {
    error: 'must be a URL such as https://forms.example.com/f',
  })
  .transform((url) => url.replace(/\/+$/, ''))

/** Converts a `NATS_URL` to the servers, credentials and inbox prefix of a connection. */
export const natsConnectionOptions = (
  url: string,
): Pick<ConnectionOptions, 'servers' | 'user' | 'pass' | 'inboxPrefix'> => {
  const servers = url.split(',').map((each) => new URL(each))
  const [user, pass] = [servers[0]!.username, servers[0]!.password].map(decodeURIComponent)
  return {
    servers: servers.map(({ host }) => host),
    ...(user && { user, pass, inboxPrefix: `_INBOX.${user}` }),
  }
}
