import { execFile } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { Account, RunningSystem } from '../system.ts'

const root = join(import.meta.dirname, '../..')
const docs = join(root, 'docs')

/** Pages whose blocks of one language, one after another, are a program, and the file of the program. */
const programs: Record<string, { language: string; file: string }> = {
  'guides/from-go.md': { language: 'go', file: 'main.go' },
  'guides/from-python.md': { language: 'python', file: 'forms.py' },
}

/** Pages of `docs/` with commands that need npm alone. */
export const pagesOfCommands = [
  'tutorial.md',
  ...readdirSync(join(docs, 'guides')).map((name) => `guides/${name}`),
].filter((name) => !(name in programs))

/**
 * Runs the commands of a page of `docs/`, one after another as after `npm start`, in a new folder.
 *
 * @param options `baseUrl` replaces that of the system. `env` is added to the environment.
 * @returns the output, and the status of each curl.
 */
export const runCommands = async (
  name: string,
  system: RunningSystem,
  account: Account,
  { baseUrl = system.baseUrl, env = {} }: { baseUrl?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<{ stdout: string; statuses: string[] }> => {
  const page = localized(readFileSync(join(docs, name), 'utf8'), baseUrl, account.slug)
  const folder = mkdtempSync(join(tmpdir(), 'docs-guides-'))
  try {
    mkdirSync(join(folder, '.data'))
    writeFileSync(join(folder, '.data/demo-api-key'), account.apiKey)
    symlinkSync(join(system.dataDir, 'nats'), join(folder, '.data/nats'))
    installPackages(folder)
    const program = programs[name]
    if (program) writeFileSync(join(folder, program.file), blocksOf(page, program.language))
    const { stdout } = await promisify(execFile)('sh', ['-euc', `${curl}\n${blocksOf(page, 'sh')}`], {
      cwd: folder,
      env: {
        ...env,
        PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        DIRECTORY_STORE_URL: system.directoryStoreUrl,
        FORMS_STORE_URL: system.formsStoreUrl,
      },
    })
    return { stdout, statuses: readFileSync(join(folder, 'statuses'), 'utf8').trim().split('\n') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const blocksOf = (page: string, language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))]
    .map(([, block]) => block!)
    .join('\n')

/** Appends the status of each response to a file. */
const curl = `curl() { command curl --write-out '%{stderr}%{http_code}\\n' "$@" 2>>statuses; }`

/** The page with the addresses of a system. */
const localized = (page: string, baseUrl: string, slug: string) =>
  page
    .replaceAll('http://127.0.0.1:8080/v2', baseUrl)
    .replaceAll('/organizations/demo', `/organizations/${slug}`)
    .replaceAll('--organization demo', `--organization ${slug}`)
    .replaceAll(/(['"])demo\1/g, `$1${slug}$1`)
    .replaceAll('npm run -s formctl --', `node ${join(root, 'formctl/src/formctl.ts')}`)
    // Programs of the tests import the sources of the client.
    .replaceAll('npm run build -w libs/client\n', '')

/** The packages that programs of the guides import: our client from its sources, and the client of NATS. */
const installPackages = (folder: string) => {
  const packages = {
    '@fms/client': join(root, 'libs/client/src/index.ts'),
    '@nats-io/jetstream': fileURLToPath(import.meta.resolve('@nats-io/jetstream')),
    '@nats-io/transport-node': fileURLToPath(import.meta.resolve('nats')),
  }
  for (const [name, file] of Object.entries(packages)) {
    const installed = join(folder, 'node_modules', name)
    mkdirSync(installed, { recursive: true })
    writeFileSync(join(installed, 'index.mjs'), `export * from ${JSON.stringify(pathToFileURL(file).href)}`)
    writeFileSync(join(installed, 'package.json'), JSON.stringify({ name, exports: './index.mjs' }))
  }
}
