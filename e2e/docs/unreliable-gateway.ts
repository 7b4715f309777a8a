import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A gateway behind a bad network. */
export interface UnreliableGateway extends Disposable {
  baseUrl: string
  /** What was lost: `create`, a response, and `stream`, the end of a stream. */
  lost: Set<'create' | 'stream'>
}

/** Loses the response to the first create of a form. Cuts the first stream of events in the middle of `form.published`. */
export const startUnreliableGateway = async (baseUrl: string): Promise<UnreliableGateway> => {
  const lost: UnreliableGateway['lost'] = new Set()
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url } = incoming
    const forwarded = request(new URL(url!, baseUrl), { method, headers }, (response) => {
      if (method === 'POST' && url!.endsWith('/forms') && !lost.has('create')) {
        lost.add('create')
        outgoing.destroy()
      } else {
        outgoing.writeHead(response.statusCode!, response.headers)
        const isCut = url!.includes('/events/stream') && !lost.has('stream')
        if (isCut) cut(response, outgoing, () => lost.add('stream'))
        else response.pipe(outgoing)
      }
    })
    outgoing.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`,
    lost,
    [Symbol.dispose]: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

const cut = (from: IncomingMessage, to: ServerResponse, onCut: () => void) => {
  let text = ''
  from.setEncoding('utf8').on('data', (chunk: string) => {
    const sent = text.length
    text += chunk
    const [beginning] = /^.*?event: form\.published\ndata: \{/s.exec(text) ?? []
    if (beginning) {
      onCut()
      to.write(beginning.slice(sent), () => to.destroy())
    } else to.write(chunk)
  })
}
