import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** Distinct ports of 127.0.0.1 on which no process listens. Another process may take one before the caller does. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listen(0, '127.0.0.1')))
  return Promise.all(servers.map(close))
}

/**
 * Resolves once `port` can be listened on: a gateway whose supervisor was just killed needs a moment to exit.
 *
 * @param timeoutMs default: 1 second.
 * @throws the error of `listen`, such as EADDRINUSE, after the timeout.
 */
export async function waitForFreePort(port: number, host: string, timeoutMs = 1_000): Promise<void> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    try {
      await close(await listen(port, host))
      return
    } catch (error) {
      if (Date.now() > deadline) throw error
      await delay(25)
    }
  }
}

async function listen(port: number, host: string): Promise<Server> {
  const server = createServer()
  server.listen(port, host)
  await once(server, 'listening')
  return server
}

async function close(server: Server): Promise<number> {
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address ? address.port : 0
}
