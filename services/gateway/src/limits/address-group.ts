import ipaddr from 'ipaddr.js'

/** The caller behind an address: the address itself, for IPv6 its network of 64 bits, which one subscriber has. */
export const addressGroupOf = (ip = ''): string => {
  // A closed socket has no address, and a proxy may forward any text: callers without address share the bounds of one.
  if (!ipaddr.isValid(ip)) return ''
  const address = ipaddr.process(ip)
  if (!(address instanceof ipaddr.IPv6)) return address.toString()
  const network = address.parts.slice(0, 4).map((part) => part.toString(16))
  return `${network.join(':')}::/64`
}
