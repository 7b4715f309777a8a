/**
 * `node --import exit-with-parent.ts run-with-parent.ts COMMAND ARGUMENTS…` runs a program that is not Node's
 * and ends with it: signals go to the program, its end becomes ours, and it never outlives us.
 */
import { spawn, spawnSync } from 'node:child_process'
import { constants } from 'node:os'

const [command, ...args] = process.argv.slice(2)
if (!command) throw new Error('usage: run-with-parent.ts COMMAND [ARGUMENT…]')

// Where there is setpriv (util-linux), the kernel kills the program when this process is killed.
const dieWithUs = ['--pdeathsig', 'KILL']
const child =
  spawnSync('setpriv', [...dieWithUs, 'true']).status === 0
    ? spawn('setpriv', [...dieWithUs, command, ...args], { stdio: 'inherit' })
    : spawn(command, args, { stdio: 'inherit' })

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
process.once('exit', () => child.kill('SIGKILL'))
child.once('error', (error) => {
  process.stderr.write(`${command} cannot be started: ${error.message}\n`)
  process.exit(127)
})
child.once('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code))
