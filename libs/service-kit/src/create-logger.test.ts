import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'

const createLogger = join(import.meta.dirname, 'create-logger.ts')

/** A process of its own that logs, then does `next`. */
const start = (next: string) => {
  const script = `
    import { createLogger } from ${JSON.stringify(createLogger)}
    const logger = createLogger('forms', 'info')
    logger.debug('not asked for')
    logger.info({ status: 200 }, 'answered')
    ${next}`
  return spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

const answered = expect.objectContaining({ service: 'forms', status: 200, msg: 'answered' })

describe('a log line', () => {
  it('comes soon, though no other follows', async () => {
    const quiet = start('setInterval(() => {}, 1000)')
    try {
      const [line] = await once(quiet.stdout, 'data')
      expect(JSON.parse(String(line))).toEqual(answered)
    } finally {
      quiet.kill('SIGKILL')
    }
  })

  it.each(['process.exit()', 'setTimeout(() => {}, 1)'])(
    'is not lost where the process ends: %s',
    async (end) => {
      expect(JSON.parse(await text(start(end).stdout))).toEqual(answered)
    },
  )

  it('is out at once when it is fatal', async () => {
    const dying = await text(start("logger.fatal('a defect'); process.kill(process.pid, 'SIGKILL')").stdout)
    expect(
      dying
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).msg),
    ).toEqual(['answered', 'a defect'])
  })
})
