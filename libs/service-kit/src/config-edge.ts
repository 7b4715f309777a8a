import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'

/** Not `1` or `0x7f000001`, which `ipaddr.js` takes for addresses, too. */
const isAddressOrRange = (text: string): boolean =>
  isIP(text.split('/', 1)[0]!) > 0 && (ipaddr.isValid(text) || ipaddr.isValidCIDR(text))

/** Addresses or CIDR ranges, separated by commas. */
export const TrustedProxies = z
  .string()
  .transform((list) => list.split(',').map((each) => each.trim()))
  .refine((proxies) => proxies.every(isAddressOrRange), {
    error: 'must be addresses or ranges such as 10.0.0.0/8, separated by commas',
  })

const readOrigins = (text: string, context: z.RefinementCtx, orElse = ''): string[] => {
  const origins = text.split(',').map((each) => each.trim())
  for (const each of origins.filter((each) => originOf(each) !== each)) {
    context.addIssue(`names "${each}", which is not an origin: write ${exampleFor(each)}${orElse}`)
  }
  return origins
}

/** Exact origins (RFC 6454 §6.2), separated by commas. */
export const Origins = z.string().transform((text, context) => readOrigins(text, context))

/** {@link Origins}, or `*`. */
export const CorsOrigins = z
  .string()
  .transform((text, context): '*' | string[] =>
    text.trim() === '*' ? '*' : readOrigins(text, context, ', or only *'),
  )

/** Scheme, host and port as browsers send them: in lower case, without the default port. A `*` is not valid. */
const originOf = (url: string): string | undefined =>
  /^https?:[^*]+$/i.test(url) && URL.canParse(url) ? new URL(url).origin : undefined

const exampleFor = (url: string): string =>
  originOf(url) ?? 'scheme://host or scheme://host:port, such as https://app.example.com'
