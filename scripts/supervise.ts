import type { ChildProcess } from 'node:child_process'
import { type Program, spawnWithParent, terminate } from '@fms/testkit/processes'

/** The part of a pino logger that the supervisor uses. */
export interface Log {
  warn(fields: object, message: string): void
}

export interface Supervisor {
  deaths(name: string): number
  /** Sends SIGTERM to a program. Like every program that exits, it is restarted. */
  restart(name: string): void
  /** Stops the programs one after the other, in the reverse order of their start. */
  stop(): Promise<void>
}

const firstBackOffMs = 200
const longestBackOffMs = 5_000
/** A program that has run for this long restarts with the first back-off. */
const stableAfterMs = 10_000

/** Starts the programs in the given order, and restarts each program that exits, until `stop`. */
export function supervise(programs: Program[], log: Log): Supervisor {
  const running = new Map(programs.map((program) => [program.name, keepAlive(program, log)]))
  return {
    deaths: (name) => running.get(name)?.deaths() ?? 0,
    restart: (name) => running.get(name)?.restart(),
    async stop() {
      for (const program of [...running.values()].reverse()) await program.stop()
    },
  }
}

function keepAlive(program: Program, log: Log) {
  let child: ChildProcess | undefined
  let restart: NodeJS.Timeout | undefined
  let backOffMs = firstBackOffMs
  let deaths = 0
  let stopping = false

  function start() {
    const startedAt = performance.now()
    child = spawnWithParent(program)
    child.once('exit', (code, signal) => {
      if (performance.now() - startedAt >= stableAfterMs) backOffMs = firstBackOffMs
      scheduleRestart(signal ? `died by ${signal}` : `died with exit code ${code}`, {
        exit_code: code,
        signal,
      })
    })
    child.on('error', (error) => {
      if (!child?.pid) scheduleRestart(`cannot be started (${error.message})`, {})
    })
  }

  function scheduleRestart(what: string, fields: object) {
    child = undefined
    if (stopping) return
    deaths++
    log.warn(
      { program: program.name, ...fields, restart_in_ms: backOffMs },
      `${program.name} ${what}; restart in ${backOffMs} ms`,
    )
    restart = setTimeout(start, backOffMs)
    backOffMs = Math.min(backOffMs * 2, longestBackOffMs)
  }

  start()
  return {
    deaths: () => deaths,
    restart: () => void child?.kill('SIGTERM'),
    async stop() {
      stopping = true
      clearTimeout(restart)
      if (child) await terminate(child)
    },
  }
}
