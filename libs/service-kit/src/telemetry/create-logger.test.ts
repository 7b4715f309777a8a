import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'

const createLogger = join(import.meta.dirname, 'create-logger.ts')

/** A process of its own that logs, then does `next`. */
const start = (next: string, format = 'json') => {
  const script = `
    import { createLogger } from ${JSON.stringify(createLogger)}
    const logger = await createLogger('forms', 'info', ${JSON.stringify(format)})
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

describe('a line for people', () => {
  const linesOf = async (script: string) => (await text(start(script, 'pretty').stdout)).trimEnd().split('\n')

  it('tells a request in one line', async () => {
    const fields = {
      method: 'GET',
      route: '/forms/:form',
      status: 404,
      duration_ms: 3.25,
      user: 'u',
      organization: 'o',
    }
    const script = `logger.child({ request_id: 'r-1' }).info(${JSON.stringify(fields)}, 'answered')`

    const [, line] = await linesOf(script)

    expect(line).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: forms +GET \/forms\/:form 404 3.25 ms {2}r-1$/)
  })

  it('has the fields of anything else behind its message, and is out at once', async () => {
    const script = "logger.warn({ program: 'nats' }, 'nats died'); process.kill(process.pid, 'SIGKILL')"

    const [, line] = await linesOf(script)

    expect(line).toMatch(/WARN: forms +nats died \{"program":"nats"\}$/)
  })

  it('tells where an error came from', async () => {
    const lines = await linesOf("logger.error({ err: new Error('broken') }, 'a defect')")

    expect(lines.join('\n')).toMatch(/ERROR: forms +a defect *\n.*"message": "broken"/s)
  })
})
