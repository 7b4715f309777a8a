import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** A TCP proxy between services and an engine, which a test shuts in two ways. */
export interface TcpGate extends AsyncDisposable {
  port: number
  /** Resets every connection, and refuses new ones until `open`. */
  refuse(): Promise<void>
  /** Connections stay, new ones too, and nothing gets through until `open`; what was under way then is dropped. */
  swallow(): void
  open(): Promise<void>
}

export const startTcpGate = async (host: string, enginePort: number): Promise<TcpGate> => {
  const pairs = new Set<[Socket, Socket]>()
  let swallowing = false
  let server: Server | undefined

  const accept = (client: Socket) => {
    const engine = connect(enginePort, host)
    const pair: [Socket, Socket] = [client, engine]
    pairs.add(pair)
    for (const [from, to] of [
      [client, engine],
      [engine, client],
    ] as const) {
      from.on('data', (data) => swallowing || to.write(data))
      from.on('error', () => {})
      from.once('close', () => {
        to.destroy()
        pairs.delete(pair)
      })
    }
  }
  const listen = async (port: number) => {
    server = createServer(accept).listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const reset = () => {
    for (const [client, engine] of pairs) {
      client.resetAndDestroy()
      engine.destroy()
    }
  }
  const port = await listen(0)

  return {
    port,
    async refuse() {
      server?.close()
      server = undefined
      reset()
    },
    swallow() {
      swallowing = true
    },
    async open() {
      // What was swallowed would leave a hole in the stream.
      if (swallowing) reset()
      swallowing = false
      if (!server) await listen(port)
    },
    async [Symbol.asyncDispose]() {
      server?.close()
      reset()
    },
  }
}
