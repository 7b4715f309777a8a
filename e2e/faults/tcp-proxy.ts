import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { Transform } from 'node:stream'

/** A TCP proxy between services and their store that can break or stall connections. */
export interface TcpProxy extends AsyncDisposable {
  port: number
  /** Breaks every connection and refuses new ones until `restore`. */
  cut(): void
  /** Drops all bytes silently. Connections of this period never recover; their clients have to time out. */
  stall(): void
  /** Breaks connections at random instead of passing on the response of the store, which has done the work. */
  loseReplies(): void
  /** Drops every commit of a transaction that a client sends, so that its writes stay uncommitted. */
  dropCommits(): void
  /** Ends the disturbance: new connections work again. */
  restore(): Promise<void>
}

/** The share of replies that `loseReplies` loses. Each new connection needs two replies before its first request. */
const lostShare = 0.1

/** @param target port of 127.0.0.1 to which connections are forwarded. */
export const startTcpProxy = async (target: number): Promise<TcpProxy> => {
  const pairs = new Set<Socket[]>()
  let isStalled = false
  let losesReplies = false
  let dropsCommits = false

  const follow = (sockets: Socket[]) => {
    pairs.add(sockets)
    for (const socket of sockets) {
      socket.setNoDelay(true)
      // The other end of the pair reports the error.
      socket.on('error', () => {})
      socket.on('close', () => {
        pairs.delete(sockets)
        for (const each of sockets) each.destroy()
      })
    }
  }
  const accept = (client: Socket) => {
    if (isStalled) {
      follow([client])
      client.resume()
      return
    }
    const upstream = connect(target, '127.0.0.1')
    const replies = new Transform({
      transform: (chunk, _encoding, done) => {
        if (!losesReplies || Math.random() >= lostShare) return done(null, chunk)
        client.resetAndDestroy()
        done()
      },
    })
    const requests = new Transform({
      transform: (chunk: Buffer, _encoding, done) =>
        dropsCommits && chunk.includes('commitTransaction') ? done() : done(null, chunk),
    })
    follow([client, upstream])
    client.pipe(requests).pipe(upstream)
    upstream.pipe(replies).pipe(client)
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
    stall: () => {
      isStalled = true
      for (const socket of [...pairs].flat()) {
        socket.unpipe()
        socket.resume()
      }
    },
    loseReplies: () => {
      losesReplies = true
    },
    dropCommits: () => {
      dropsCommits = true
    },
    restore: async () => {
      isStalled = false
      losesReplies = false
      dropsCommits = false
      if (!server.listening) server = await listen(port)
    },
    [Symbol.asyncDispose]: async () => cut(),
  }
}
