import { execFile, execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import dockerignore from '@balena/dockerignore'
import { findNatsServer } from '@fms/testkit/nats-server'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { buildConsole } from '../../scripts/build-console.ts'
import { readStartConfig } from '../../scripts/start-config.ts'
import { FormsConfig } from '../../services/forms/src/config.ts'
import { GatewayConfig } from '../../services/gateway/src/config.ts'
import { PublisherConfig } from '../../services/publisher/src/config.ts'
import { call, npmStart, npmStop } from './npm-start.ts'

const root = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const units = readdirSync(join(root, 'deploy/systemd'))
const hasSystemd = (() => {
  try {
    return execFileSync('systemd-analyze', ['--version']).length > 0
  } catch {
    return false
  }
})()

/** The variables that a unit sets. */
const environmentOf = (unit: string): Record<string, string> =>
  Object.fromEntries(
    [...read(`deploy/systemd/${unit}`).matchAll(/^Environment=(.*)$/gm)]
      .flatMap(([, assignments]) => assignments!.split(' '))
      .map((assignment) => assignment.split('=') as [string, string]),
  )

describe('deploy/systemd', () => {
  it.skipIf(!hasSystemd).each(units)('%s is valid, and as confined as its work allows', async (unit) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'units-'))
    // systemd-analyze looks for the programs, which are not installed here.
    const text = (file: string) =>
      read(`deploy/systemd/${file}`).replaceAll(/^(Exec\w+=)\S+/gm, '$1/bin/true')
    for (const file of units) await writeFile(join(folder.path, file), text(file))
    const analyze = (...args: string[]) => promisify(execFile)('systemd-analyze', args, { cwd: folder.path })

    const { stderr } = await analyze('verify', '--man=no', `./${unit}`)
    expect(stderr).toBe('')
    // Exposure from 0 to 10, times 10.
    if (unit.endsWith('.service')) await analyze('security', '--offline=true', '--threshold=20', `./${unit}`)
  })

  it('sets variables that npm start accepts', () => {
    const config = readStartConfig(environmentOf('form-management.service'))

    expect(config).toMatchObject({ DEMO: 'off', HOST: '127.0.0.1', DATA_DIR: '/var/lib/form-management' })
  })

  it('lets worker threads lower their priority', () => {
    const [, ...filters] = read('deploy/systemd/form-management.service').match(
      /(?<=^SystemCallFilter=).*$/gm,
    )!

    expect(filters).toEqual(['~@privileged @resources', 'setpriority'])
  })
})

describe('the backup of deploy/systemd', () => {
  it('runs on the data of the service, as its user, started by its timer', () => {
    const { DATA_DIR } = environmentOf('form-management.service')
    const unit = read('deploy/systemd/form-management-backup.service')

    expect(environmentOf('form-management-backup.service')).toMatchObject({ DATA_DIR, BACKUP_KEEP: '7' })
    expect(unit).toMatch(/^User=form-management$/m)
    expect(unit).toMatch(
      /^ExecStart=\S+ formctl\/src\/formctl\.ts backup \$\{BACKUP_DIR\} --keep \$\{BACKUP_KEEP\}$/m,
    )
    expect(units).toContain('form-management-backup.timer')
  })
})

/** Copies what the image contains: the files that Docker is sent, the built console, and links to the packages of production. */
const copyImage = async (to: string) => {
  await buildConsole()
  const copy = (path: string) => cpSync(join(root, path), join(to, path), { recursive: true })
  const sources = globSync('{scripts,console,docs,formctl,libs,services}/**/*', {
    cwd: root,
    exclude: ['**/node_modules'],
  })
  const isInImage = dockerignore.default().add(read('.dockerignore')).createFilter()
  const files = ['package.json', ...sources.filter((file) => statSync(join(root, file)).isFile())]
  for (const file of files.filter(isInImage)) copy(file)
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, LockedPackage> }
  for (const [path, { link, resolved, dev, optional, devOptional }] of Object.entries(packages)) {
    // A link to a package has the packages within it.
    if (path.split('node_modules/').length !== 2 || dev || optional || devOptional) continue
    const target = link ? join(to, resolved!) : join(root, path)
    if (!existsSync(target)) continue
    mkdirSync(dirname(join(to, path)), { recursive: true })
    symlinkSync(target, join(to, path))
  }
  copy('console/dist')
}

interface LockedPackage {
  /** Of a link: the folder of the package in the repository. */
  resolved?: string
  link?: true
  dev?: true
  optional?: true
  devOptional?: true
}

describe('deploy/single/compose.yml', () => {
  const { services, networks } = parse(read('deploy/single/compose.yml'))

  it('builds a stage of the Dockerfile that has the same nats-server as package.json', () => {
    const { target } = services.forms.build
    const [stage] = read('Dockerfile').match(new RegExp(`^FROM \\S+ AS ${target}$[\\s\\S]*?(?=^FROM)`, 'm'))!
    const version = Object.values(JSON.parse(read('package.json')).optionalDependencies)[0]

    expect(stage).toContain(`COPY --from=nats:${version}-alpine /usr/local/bin/nats-server`)
    expect(stage).toContain('DATA_DIR=/data')
    expect(services.forms.volumes).toEqual(['data:/data'])
  })

  it('starts from the files of its image', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'image-'))
    await using data = await mkdtempDisposable(join(tmpdir(), 'image-data-'))
    await copyImage(folder.path)
    expect(read('Dockerfile')).toContain('\nCOPY --from=dependencies /app .\nCOPY . .\n')

    const env = {
      PATH: `${dirname(findNatsServer().command)}:${process.env.PATH}`,
      NODE_COMPILE_CACHE: join(data.path, 'cache'),
    }
    const started = await npmStart(data.path, env, folder.path)

    try {
      const formctl = [join(folder.path, 'formctl/src/formctl.ts'), 'organization', 'list', '--json']
      const { stdout } = await promisify(execFile)(process.execPath, formctl, {
        env: { ...env, DATA_DIR: data.path },
      })
      expect(JSON.parse(stdout).organizations).toHaveLength(1)
      expect((await call(started, 'GET', '/whoami')).status).toBe(200)
      expect((await fetch(`${started.baseUrl}/console`)).status).toBe(200)
    } finally {
      await npmStop(started)
    }
  })

  it('backs up the volume of the service, by the same image', () => {
    expect(services.backup).toMatchObject({ image: services.forms.image, volumes: services.forms.volumes })
    expect(services.backup.command.at(-1)).toContain('formctl.ts backup /data/backups --keep "$$BACKUP_KEEP"')
  })

  it('passes on the variables of the services, but those that it sets or that are within', () => {
    const configs = [GatewayConfig, FormsConfig, PublisherConfig].flatMap(({ shape }) => Object.keys(shape))
    const within = /^(HOST|PORT|PROBE_PORT|DRAIN_MS|NATS_URL|ORGANIZATIONS_URL|FORMS_URL|FORMS_STORE_URL)$/
    const passed = configs.filter((name) => !within.test(name))

    expect(Object.keys(services.forms.environment)).toEqual(
      expect.arrayContaining([...passed, 'GATEWAYS', 'FORMS', 'DEMO', 'DEMO_API_KEY']),
    )
  })

  it('sets variables that npm start accepts, and trusts only the network of caddy', () => {
    const environment = Object.fromEntries(
      Object.entries(services.forms.environment as Record<string, string | null>).map(([name, value]) => [
        name,
        value?.replace(/^\$\{\w+:-(.*)\}$/, '$1'),
      ]),
    )

    expect(() => readStartConfig(environment)).not.toThrow()
    expect(environment.TRUST_PROXY).toBe(networks.edge.ipam.config[0].subnet)
    expect(networks.edge.internal).toBe(true)
    // Over another network that both are in, caddy would have another address.
    const { caddy, forms } = services
    expect(forms.networks.filter((name: string) => caddy.networks.includes(name))).toEqual(['edge'])
  })
})
