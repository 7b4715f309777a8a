import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { freePorts } from './ports.ts'

it('gives no port that another process was given, until that process ends', async () => {
  const code = `import { freePorts } from '${join(import.meta.dirname, 'ports.ts')}'
    process.stdout.write((await freePorts(1_000)).join())
    process.stdin.resume()`
  const other = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const theirs = new Set(String((await once(other.stdout, 'data'))[0]).split(','))

  const ours = await freePorts(200)
  other.stdin.end()
  await once(other, 'close')

  expect(theirs.size).toBeGreaterThan(1)
  expect(ours.filter((port) => theirs.has(`${port}`))).toEqual([])
})
