import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { environmentWithoutNpm, findOnPath } from '@fms/testkit/machine/toolchains'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '../..')

/** A folder outside of the workspace in which only the packed client is installed. */
export interface ClientInstallation extends Disposable {
  folder: string
  /** Paths in the tarball, sorted. */
  files: string[]
  /** Writes a file beside node_modules. @returns its path. */
  write(file: string, text: string): string
}

/** Builds and packs libs/client, and installs the tarball offline. */
export const installClient = (): ClientInstallation => {
  const folder = mkdtempSync(join(tmpdir(), 'client-package-'))
  const npm = (cwd: string, ...parameters: string[]) =>
    execFileSync('npm', [...parameters, '--loglevel=error'], {
      cwd,
      env: environmentWithoutNpm(),
      encoding: 'utf8',
      stdio: 'pipe',
    })
  npm(root, 'run', 'build', '-w', 'libs/client')
  const packed = npm(join(root, 'libs/client/dist'), 'pack', '--json', '--pack-destination', folder)
  const [{ filename, files }] = JSON.parse(packed) as [{ filename: string; files: { path: string }[] }]

  const consumer = join(folder, 'consumer')
  mkdirSync(consumer)
  writeFileSync(join(consumer, 'package.json'), '{ "private": true }')
  npm(consumer, 'install', '--offline', '--no-audit', '--no-fund', join(folder, filename))
  return {
    folder: consumer,
    files: files.map(({ path }) => path).sort(),
    write: (file, text) => {
      writeFileSync(join(consumer, file), text)
      return join(consumer, file)
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}

/** Bundles a program of the installation for browsers. @returns the script. */
export const bundleForBrowser = async (file: string): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    write: false,
  })
  return outputFiles[0]!.text
}

/** A Node executable. */
export interface NodeProgram {
  file: string
  /** For example `v20.20.2`. */
  version: string
}

/** Node 20 and newer on the PATH and in CLIENT_TEST_NODES (files, separated as in PATH), each version once. */
export const findNodes = (): NodeProgram[] => {
  const further = (process.env.CLIENT_TEST_NODES ?? '').split(delimiter).filter(Boolean)
  const files = new Set(
    [process.execPath, ...findOnPath('node'), ...further].map((file) => realpathSync(file)),
  )
  const programs = [...files].map((file) => ({
    file,
    version: execFileSync(file, ['--version'], { encoding: 'utf8' }).trim(),
  }))
  const supported = programs.filter(({ version }) => Number.parseInt(version.slice(1), 10) >= 20)
  return [...new Map(supported.map((program) => [program.version, program])).values()]
}

/**
 * The text of a program that runs the lifecycle of a form.
 *
 * @param load binds the exports of the client.
 * @param show uses the function `life`, whose result is {@link expectedLifecycle}.
 */
export const lifecycleProgram = (load: string, show: string): string => `
${load}

const life = async ({ baseUrl, apiKey, organization }) => {
  const client = createClient({ baseUrl, apiKey })
  const steps = [{ type: 'start', key: 'hello' }, { type: 'rating', key: 'stars', max: 5 }]
  const { form, etag } = await client.forms.create(organization, { name: 'Packed', steps })
  const ref = form.publicId
  await client.forms.update(organization, ref, { name: 'Unpacked' }, { ifMatch: etag })
  const late = await client.forms.update(organization, ref, {}, { ifMatch: etag }).catch((error) => error)
  const published = await client.forms.publish(organization, ref)
  const names = []
  for await (const { name } of client.forms.list(organization)) names.push(name)
  await client.forms.delete(organization, ref)
  return { isLate: isReason(late, 'FORM_MOVED'), live: published.form.live, names }
}
${show}
`

/** The expected result of {@link lifecycleProgram}. */
export const expectedLifecycle = { isLate: true, live: true, names: ['Unpacked'] }
