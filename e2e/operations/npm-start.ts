import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type StartedSystem, systemFile } from '../../scripts/banner.ts'

const root = join(import.meta.dirname, '../..')

/** Fixed, because tests compare responses before and after a restart on another port. */
const publicFormBaseUrl = 'https://forms.example/f'

/** The process of `npm start`, and what it printed and wrote when it was ready. */
export interface Started {
  child: ChildProcess
  baseUrl: string
  slug: string
  apiKey: string
  /** The printed curl command, with the demo key. */
  curl: string
  /** URL of the API reference. */
  referencePage: string
  /** URL that signs in to the console. */
  consoleLink: string
  /** URL of the NATS user `events`. */
  natsForReaders: string
  /** All of stdout up to the curl command. */
  printed: string
}

/** Runs `npm start` on a free port, without npm, and waits until it is ready. @param folder of the sources. */
export const npmStart = async (
  dataDir: string,
  env: NodeJS.ProcessEnv = {},
  folder = root,
): Promise<Started> => {
  const child = spawn(process.execPath, [join(folder, 'scripts/start.ts')], {
    cwd: folder,
    env: {
      ...process.env,
      PORT: '0',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
      // As many processes on every machine.
      GATEWAYS: '1',
      FORMS: '1',
      PUBLIC_FORM_BASE_URL: publicFormBaseUrl,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  for await (const chunk of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    printed += chunk
    if (/^ {2}curl .*$/m.test(printed)) break
  }
  child.stdout.resume()
  const line = (name: string) => printed.match(new RegExp(`^ {2}${name} +(\\S+)$`, 'm'))?.[1]
  const system = JSON.parse(readFileSync(join(dataDir, systemFile), 'utf8')) as Required<StartedSystem>
  return {
    child,
    baseUrl: line('Base URL')!,
    slug: line('Demo organization')!,
    apiKey: system.demoKey,
    referencePage: line('Reference page')!,
    consoleLink: system.consoleLink,
    natsForReaders: system.natsForReaders,
    printed,
    curl: printed.match(/^ {2}(curl .*)$/m)![1]!.replace('KEY', system.demoKey),
  }
}

/** Sends SIGTERM and waits for the exit. Does nothing when the process has exited. */
export const npmStop = async ({ child }: Started): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

/** Sends a request with the demo key. */
export const call = async ({ baseUrl, apiKey }: Started, method: string, path: string, body?: object) => {
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of bodies of many shapes
  return { status: response.status, body: (await response.json()) as any }
}

/** Every process whose command line or environment names the data folder. */
export const processesOf = (folder: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) =>
      ['cmdline', 'environ'].some((file) => readOrEmpty(`/proc/${pid}/${file}`).includes(folder)),
    )
    .map(Number)

/** The content of a file; empty when it cannot be read. */
export const readOrEmpty = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
