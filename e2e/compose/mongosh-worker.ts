import { type MessagePort, workerData } from 'node:worker_threads'
import { MongoClient, type MongoServerError } from 'mongodb'

// Worker of mongosh.ts: runs one command at a time and wakes the thread that waits for the result.
const { url, responses, port } = workerData as { url: string; responses: Int32Array; port: MessagePort }
const client = new MongoClient(url)

port.on('message', async (command) => {
  const response = await client
    .db('admin')
    .command(command)
    .then(
      (result) => ({ result: JSON.parse(JSON.stringify(result)) }),
      ({ message, codeName }: MongoServerError) => ({ error: { message, codeName } }),
    )
  port.postMessage(response)
  Atomics.add(responses, 0, 1)
  Atomics.notify(responses, 0)
})
port.on('close', () => client.close())
