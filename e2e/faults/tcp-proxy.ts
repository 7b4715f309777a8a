import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** A network between services and their store that a test can spoil. */
export interface TcpProxy extends AsyncDisposable {
  port: number
  /** Breaks every connection and refuses new ones until `mend`. */
  cut(): void
  /** Lets nothing through and says nothing. Connections of this time stay dumb for ever; who is on one has to notice. */
  swallow(): void
  /** New connections work again. */
  mend(): Promise<void>
}

/** @param target port of 127.0.0.1 that connections lead to. */
export const startTcpProxy = async (target: number): Promise<TcpProxy> => {
  const pairs = new Set<Socket[]>()
  let swallows = false

  const follow = (sockets: Socket[]) => {
    pairs.add(sockets)
    for (const socket of sockets) {
      socket.setNoDelay(true)
      // What broke shows at the other end; there is nobody here to tell.
      socket.on('error', () => {})
      socket.on('close', () => {
        pairs.delete(sockets)
        for (const each of sockets) each.destroy()
      })
    }
  }
  const accept = (client: Socket) => {
    if (swallows) {
      follow([client])
      client.resume()
      return
    }
    const upstream = connect(target, '127.0.0.1')
    follow([client, upstream])
    client.pipe(upstream)
    upstream.pipe(client)
  }
  const listen = async (port: number): Promise<Server> => {
    const server = createServer(accept).listen(port, '127.0.0.1')
    await once(server, 'listening')
    return server
  }
  const cut = () => {
    server.close()
    for (const socket of [...pairs].flat()) socket.resetAndDestroy()
  }

  let server = await listen(0)
  const { port } = server.address() as { port: number }
  return {
    port,
    cut,
    swallow: () => {
      swallows = true
      for (const socket of [...pairs].flat()) {
        socket.unpipe()
        socket.resume()
      }
    },
    mend: async () => {
      swallows = false
      if (!server.listening) server = await listen(port)
    },
    [Symbol.asyncDispose]: async () => cut(),
  }
}
