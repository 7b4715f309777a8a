/**
 * `node --import exit-with-parent.ts run-with-parent.ts COMMAND ARGUMENTS…` wraps a program other than Node: forwards
 * signals to it, exits with its exit code, and kills it when this process ends.
 */
import { spawn, spawnSync } from 'node:child_process'
import { constants } from 'node:os'

const [command, ...args] = process.argv.slice(2)
if (!command) throw new Error('usage: run-with-parent.ts COMMAND [ARGUMENT…]')

// With setpriv (util-linux), the kernel kills the program when this process is killed.
const deathSignal = ['--pdeathsig', 'KILL']
const child =
  spawnSync('setpriv', [...deathSignal, 'true']).status === 0
    ? spawn('setpriv', [...deathSignal, command, ...args], { stdio: 'inherit' })
    : spawn(command, args, { stdio: 'inherit' })

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
process.once('exit', () => child.kill('SIGKILL'))
child.once('error', (error) => {
  process.stderr.write(`${command} cannot be started: ${error.message}\n`)
  process.exit(127)
})
child.once('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code))
