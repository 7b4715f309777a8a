import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'

const root = join(import.meta.dirname, '../..')

/** Runs an administrative command synchronously, as mongosh does. @returns its result. @throws the server's error. */
export type AdminCommand = (command: Record<string, unknown>) => unknown

/** Runs deploy/mongo-init.js with the parts of mongosh that it uses. */
export const runMongoInit = (adminCommand: AdminCommand, env: NodeJS.ProcessEnv): void => {
  const script = readFileSync(join(root, 'deploy/mongo-init.js'), 'utf8')
  const sleep = (milliseconds: number) =>
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
  runInContext(script, createContext({ db: { adminCommand }, process: { env }, sleep }))
}

/** A connection that runs administrative commands synchronously: the driver runs in a worker thread. */
export interface AdminConnection extends AsyncDisposable {
  adminCommand: AdminCommand
}

export const connectAdmin = (url: string): AdminConnection => {
  const { port1: port, port2 } = new MessageChannel()
  const responses = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(new URL('./mongosh-worker.ts', import.meta.url), {
    workerData: { url, responses, port: port2 },
    transferList: [port2],
  })
  return {
    adminCommand: (command) => {
      const before = Atomics.load(responses, 0)
      port.postMessage(command)
      Atomics.wait(responses, 0, before)
      const { result, error } = receiveMessageOnPort(port)!.message
      if (error) throw Object.assign(new Error(error.message), { codeName: error.codeName })
      return result
    },
    [Symbol.asyncDispose]: async () => {
      const exited = once(worker, 'exit')
      port.close()
      await exited
    },
  }
}
