/**
 * Preload that resolves host names to several addresses, as the DNS of a cluster does. `NAMES` is JSON:
 * `{ name: addresses }`.
 */
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'

const names = new Map<string, string[]>(Object.entries(JSON.parse(process.env.NAMES ?? '{}')))
const systemLookup = dns.lookup

const lookup = (name: string, options: dns.LookupAllOptions, done: (...results: unknown[]) => void) => {
  const addresses = names.get(name)
  if (!addresses) return systemLookup(name, options, done)
  process.nextTick(
    done,
    null,
    addresses.map((address) => ({ address, family: 4 })),
  )
}

Object.assign(dns, { lookup })
syncBuiltinESMExports()
