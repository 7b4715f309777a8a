import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** The same at every start, whatever port was free: answers are compared from one start to the next. */
const publicFormBaseUrl = 'https://forms.example/f'

/** What `npm start` prints at the end of its start, and its process. */
export interface Started {
  child: ChildProcess
  baseUrl: string
  slug: string
  apiKey: string
  /** The line to paste. */
  curl: string
  /** Of the API's reference. */
  referencePage: string
  /** Everything on stdout up to the line to paste. */
  printed: string
}

/** Runs what `npm start` runs, on a free port, and waits for the block that it prints at the end of its start. */
export const npmStart = async (dataDir: string, env: NodeJS.ProcessEnv = {}): Promise<Started> => {
  const child = spawn(process.execPath, [join(root, 'scripts/start.ts')], {
    cwd: root,
    env: {
      ...process.env,
      PORT: '0',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
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
  return {
    child,
    baseUrl: line('Base URL')!,
    slug: line('Demo organization')!,
    apiKey: line('Demo key')!,
    referencePage: line('Reference page')!,
    printed,
    curl: printed.match(/^ {2}(curl .*)$/m)![1]!,
  }
}

/** Stops it as Ctrl-C does, unless it has ended. */
export const npmStop = async ({ child }: Started): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

export const call = async ({ baseUrl, apiKey }: Started, method: string, path: string, body?: object) => {
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked into member by member
  return { status: response.status, body: (await response.json()) as any }
}
