import type { ChildProcess } from 'node:child_process'
import { type Program, spawnWithParent, terminate } from '@fms/testkit/processes'

/** The part of a pino logger that is needed here. */
export interface Log {
  warn(fields: object, message: string): void
}

export interface Supervisor {
  /** How often the program has died so far. */
  deaths(name: string): number
  /** Ends a program that runs; like every one that dies, it is started again. */
  restart(name: string): void
  /** Stops every program in the reverse order of their start, each one gone before the next is told. */
  stop(): Promise<void>
}

const firstBackOffMs = 200
const longestBackOffMs = 5_000
/** Who lived this long starts again with the first back-off. */
const stableAfterMs = 10_000

/** Starts the programs in the order given and starts again each one that dies, until `stop`. */
export function supervise(programs: Program[], log: Log): Supervisor {
  const kept = new Map(programs.map((program) => [program.name, keepAlive(program, log)]))
  return {
    deaths: (name) => kept.get(name)?.deaths() ?? 0,
    restart: (name) => kept.get(name)?.restart(),
    async stop() {
      for (const one of [...kept.values()].reverse()) await one.stop()
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
      startAgain(signal ? `died by ${signal}` : `died with exit code ${code}`, { exit_code: code, signal })
    })
    child.on('error', (error) => {
      if (!child?.pid) startAgain(`cannot be started (${error.message})`, {})
    })
  }

  function startAgain(what: string, fields: object) {
    child = undefined
    if (stopping) return
    deaths++
    log.warn(
      { program: program.name, ...fields, restart_in_ms: backOffMs },
      `${program.name} ${what}; it is started again in ${backOffMs} ms`,
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
