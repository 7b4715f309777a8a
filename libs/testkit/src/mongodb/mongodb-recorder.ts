import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { BSON, type Document } from 'mongodb'

/** Which command breaks its connection. */
export interface ConnectionBreak {
  /** The number of the command from now on, from 1. */
  command: number
  /** Whether the server gets the command. In both cases the client gets no response. */
  isCarriedOut: boolean
  /** Whether all connections break for good, as if the client had been killed. */
  isFinal: boolean
}

/** A TCP proxy in front of a MongoDB that records the commands of its clients. */
export interface MongodbRecorder extends AsyncDisposable {
  /** URL of the same database through the proxy. */
  url: string
  /**
   * The commands that arrived since the last call, in order and with all of their options. Leaves out handshakes, questions about
   * the server, the end of sessions, and commands on the collection `meta`, which the stores read once a second.
   */
  take(): Document[]
  /** Breaks a connection in place of the last break that was asked for. Resolves when it breaks. */
  breakAt(next: ConnectionBreak): Promise<void>
}

/** @param target `mongodb://host:port/database` of one server. */
export const recordMongodb = async (target: string): Promise<MongodbRecorder> => {
  const url = new URL(target)
  const { hostname, port } = url
  const sockets = new Set<Socket>()
  let commands: Document[] = []
  let pending: (ConnectionBreak & { resolve: () => void }) | undefined
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.setNoDelay(true)
      // The other end of the pair reports the error.
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    let isCut = false
    const cut = () => {
      if (pending!.isFinal) server.close()
      for (const socket of pending!.isFinal ? sockets : [client]) socket.destroy()
      pending!.resolve()
      pending = undefined
      isCut = false
    }
    client.on(
      'data',
      forEachMessage((message) => {
        const command = commandOf(message)
        if (command && !isIgnored(command)) {
          commands.push(command)
          if (pending && --pending.command === 0) isCut = true
        }
        if (isCut && !pending!.isCarriedOut) cut()
        else upstream.write(message)
      }),
    )
    upstream.on('data', (response) => (isCut ? cut() : client.write(response)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  url.host = `127.0.0.1:${(server.address() as { port: number }).port}`
  // Otherwise the driver connects to the address that the replica set announces, without the proxy.
  url.searchParams.set('directConnection', 'true')
  return {
    url: url.href,
    take: () => {
      const taken = commands
      commands = []
      return taken
    },
    breakAt: (next) => new Promise((resolve) => (pending = { ...next, resolve })),
    [Symbol.asyncDispose]: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Name and collection of a command, such as `find forms`. */
export const describeCommand = (command: Document): string => `${nameOf(command)} ${collectionOf(command)}`

/** The name is the first member of a command. */
const nameOf = (command: Document): string => Object.keys(command)[0]!

/** `getMore` has the collection in a member of its own. */
const collectionOf = (command: Document): unknown => command.collection ?? command[nameOf(command)]

const ignoredCommands = ['hello', 'isMaster', 'ismaster', 'ping', 'buildInfo', 'getParameter', 'endSessions']

const isIgnored = (command: Document) =>
  ignoredCommands.includes(nameOf(command)) || collectionOf(command) === 'meta'

/** A listener for bytes of MongoDB's wire protocol, in which each message begins with its length as an int32. */
const forEachMessage = (onMessage: (message: Buffer) => void) => {
  let chunks: Buffer[] = []
  let missing = 0
  return (chunk: Buffer) => {
    chunks.push(chunk)
    missing -= chunk.length
    // A message of some MiB is put together once, not with each of its chunks.
    if (missing > 0) return
    let bytes = Buffer.concat(chunks)
    while (bytes.length >= 4 && bytes.length >= bytes.readInt32LE(0)) {
      const length = bytes.readInt32LE(0)
      onMessage(bytes.subarray(0, length))
      bytes = bytes.subarray(length)
    }
    chunks = [bytes]
    missing = bytes.length < 4 ? 0 : bytes.readInt32LE(0) - bytes.length
  }
}

/** The opcode of every message but the first handshake. */
const opMsg = 2013
const opcodeOffset = 12
/** After the header of 16 bytes and the flags: one byte for the kind of the section, then the command. */
const sectionOffset = 20

/** The command of an OP_MSG; undefined for other messages. */
const commandOf = (message: Buffer): Document | undefined => {
  if (message.readInt32LE(opcodeOffset) !== opMsg) return undefined
  const size = message.readInt32LE(sectionOffset + 1)
  return BSON.deserialize(message.subarray(sectionOffset + 1, sectionOffset + 1 + size))
}
