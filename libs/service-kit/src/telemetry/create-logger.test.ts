import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'

const createLogger = join(import.meta.dirname, 'create-logger.ts')

/** Arguments of a process that logs, then runs `next`. */
const argsOf = (next: string, format = 'json') => [
  '--input-type=module',
  '--eval',
  `
    import { createLogger } from ${JSON.stringify(createLogger)}
    const logger = await createLogger('forms', 'info', ${JSON.stringify(format)})
    logger.debug('below the level')
    logger.info({ status: 200 }, 'request completed')
    ${next}`,
]

const start = (next: string, format?: string) =>
  spawn(process.execPath, argsOf(next, format), { stdio: ['ignore', 'pipe', 'inherit'] })

const completed = expect.objectContaining({ service: 'forms', status: 200, msg: 'request completed' })

describe('a log line', () => {
  it('is written soon, even when no other follows', async () => {
    const idle = start('setInterval(() => {}, 1000)')
    try {
      const [line] = await once(idle.stdout, 'data')
      expect(JSON.parse(String(line))).toEqual(completed)
    } finally {
      idle.kill('SIGKILL')
    }
  })

  it.each(['process.exit()', 'setTimeout(() => {}, 1)'])(
    'is written when the process ends: %s',
    async (end) => {
      expect(JSON.parse(await text(start(end).stdout))).toEqual(completed)
    },
  )

  it.each(["logger.info('stopping')", "logger.fatal('a defect')"])(
    'does not keep a process whose reader has gone from its exit: %s',
    async (log) => {
      const orphan = start(
        `process.once('SIGTERM', () => { ${log}; process.exit() }); setInterval(() => {}, 1000)`,
      )
      await once(orphan.stdout, 'data')
      const exited = once(orphan, 'exit', { signal: AbortSignal.timeout(10_000) })
      orphan.stdout.destroy()
      orphan.kill('SIGTERM')
      try {
        expect(await exited).toEqual([0, null])
      } finally {
        orphan.kill('SIGKILL')
      }
    },
  )

  it.runIf(existsSync('/dev/full'))(
    'does not end the process if it cannot be written, as on a full disk',
    async () => {
      const lines = "for (let n = 0; n < 20_000; n++) logger.info('more'); logger.fatal('a defect')"
      await using full = await open('/dev/full', 'w')
      const working = spawn(process.execPath, argsOf(`${lines}; setTimeout(() => process.exit(3), 300)`), {
        stdio: ['ignore', full.fd, 'inherit'],
      })

      expect(await once(working, 'exit')).toEqual([3, null])
    },
  )

  it('is written immediately when it is fatal', async () => {
    const dying = await text(start("logger.fatal('a defect'); process.kill(process.pid, 'SIGKILL')").stdout)
    expect(
      dying
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).msg),
    ).toEqual(['request completed', 'a defect'])
  })
})

describe('the error of a line', () => {
  const errorOf = async (error: string) => {
    const lines = await text(
      start(`
      const { errors } = await import('nats')
      logger.error({ err: ${error} }, 'failed')
      process.exit()`).stdout,
    )
    return JSON.parse(lines.trimEnd().split('\n').at(-1)!).err
  }

  it('has the stack of a defect', async () => {
    expect(await errorOf("new TypeError('broken')")).toEqual({
      type: 'TypeError',
      message: 'broken',
      stack: expect.stringContaining('TypeError: broken\n    at '),
    })
  })

  it('has no stack when NATS is away', async () => {
    expect(await errorOf('new errors.TimeoutError()')).toEqual({ type: 'TimeoutError', message: 'timeout' })
  })
})

describe('a pretty line', () => {
  const linesOf = async (script: string) => (await text(start(script, 'pretty').stdout)).trimEnd().split('\n')

  it('shows a request in one line', async () => {
    const fields = {
      method: 'GET',
      route: '/forms/:form',
      status: 404,
      duration_ms: 3.25,
      user: 'u',
      organization: 'o',
    }
    const script = `logger.child({ request_id: 'r-1' }).info(${JSON.stringify(fields)}, 'request completed')`

    const [, line] = await linesOf(script)

    expect(line).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: forms +GET \/forms\/:form 404 3.25 ms {2}r-1$/)
  })

  it('has the fields of other lines after the message, and is written immediately', async () => {
    const script = "logger.warn({ program: 'nats' }, 'nats died'); process.kill(process.pid, 'SIGKILL')"

    const [, line] = await linesOf(script)

    expect(line).toMatch(/WARN: forms +nats died \{"program":"nats"\}$/)
  })

  it('shows the error of a line', async () => {
    const lines = await linesOf("logger.error({ err: new Error('broken') }, 'a defect')")

    expect(lines.join('\n')).toMatch(/ERROR: forms +a defect *\n.*"message": "broken"/s)
  })
})
