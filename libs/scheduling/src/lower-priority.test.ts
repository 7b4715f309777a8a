import { once } from 'node:events'
import { getPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'

/** The priority of a thread that lowers its own, after a script. */
const priorityAfter = async (script: string): Promise<number> => {
  const module = JSON.stringify(import.meta.resolve('./lower-priority.ts'))
  const worker = new Worker(
    `const os = require('node:os')
    ${script}
    import(${module}).then(({ lowerPriority }) => {
      lowerPriority()
      require('node:worker_threads').parentPort.postMessage(os.getPriority())
    })`,
    { eval: true, execArgv: [] },
  )
  const [priority] = await once(worker, 'message')
  await worker.terminate()
  return priority
}

describe.runIf(process.platform === 'linux')('the priority of a worker thread', () => {
  it('is lower than that of its process', async () => {
    const before = getPriority(process.pid)

    expect(await priorityAfter('')).toBe(before + 5)

    expect(getPriority(process.pid)).toBe(before)
  })

  it('stays as it is where a sandbox forbids changing it', async () => {
    const refusal = "Object.assign(new Error('refused'), { info: { code: 'EPERM' } })"

    expect(await priorityAfter(`os.setPriority = () => { throw ${refusal} }`)).toBe(getPriority())
  })
})
