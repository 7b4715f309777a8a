/** `npm run sbom`: writes the bill of materials of the image to `sbom/sbom.cdx.json` (CycloneDX) and `sbom/licences.txt`. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dependenciesOf, readLockFile } from './licences.ts'

/** The parts of a CycloneDX document that this program changes. */
interface Bom {
  metadata: { component: { 'bom-ref': string } }
  components: { 'bom-ref': string; properties?: { name: string; value: string }[] }[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

const root = join(import.meta.dirname, '../..')

const bom = shippedPartOf(readBom())
const shipped = dependenciesOf(readLockFile()).filter(({ isDev }) => !isDev)
const lines = shipped.map(({ name, version, licence }) => `${name} ${version}  ${licence}\n`)

mkdirSync(join(root, 'sbom'), { recursive: true })
writeFileSync(join(root, 'sbom/sbom.cdx.json'), `${JSON.stringify(bom, null, 2)}\n`)
writeFileSync(join(root, 'sbom/licences.txt'), lines.join(''))
process.stdout.write(
  `sbom/sbom.cdx.json has ${bom.components.length} components, sbom/licences.txt ${lines.length} packages.\n`,
)

function readBom(): Bom {
  const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only']
  const text = execFileSync('npm', args, { cwd: root, maxBuffer: 64 * 1024 * 1024, encoding: 'utf8' })
  return JSON.parse(text)
}

/** Removes development dependencies. `npm sbom --omit=dev` would also remove packages that the root and a service share. */
function shippedPartOf(bom: Bom): Bom {
  const components = bom.components.filter(
    ({ properties = [] }) => !properties.some(({ name }) => name === 'cdx:npm:package:development'),
  )
  const refs = new Set([bom.metadata.component, ...components].map((component) => component['bom-ref']))
  const dependencies = bom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) }))
  return { ...bom, components, dependencies }
}
