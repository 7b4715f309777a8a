import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** Below the ports of outgoing connections (Linux: from 32768), one of which could take a port before its caller does. */
const [firstPort, endPort] = [15_000, 32_768]

/** Distinct ports of 127.0.0.1 on which no process listens. Until this process ends, no other one is given them. */
export async function freePorts(count: number): Promise<number[]> {
  const servers: Server[] = []
  while (servers.length < count) {
    const port = randomInt(firstPort, endPort)
    try {
      await reserve(port)
      servers.push(await listen(port, '127.0.0.1'))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    }
  }
  return Promise.all(servers.map(close))
}

/** A UDP socket is the sign for other processes, and in the way of none that uses the port by TCP. @throws EADDRINUSE. */
async function reserve(port: number): Promise<void> {
  const sign = createSocket('udp4').unref()
  sign.bind(port, '127.0.0.1')
  await once(sign, 'listening').catch((error) => {
    sign.close()
    throw error
  })
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
