import { execFileSync } from 'node:child_process'
import { copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from './package.json' with { type: 'json' }

// Builds dist/, the package that is published: `npm run build -w libs/client`. In the repository, it is its sources.
const folder = import.meta.dirname
const root = join(folder, '../..')
const dist = join(folder, 'dist')

rmSync(dist, { recursive: true, force: true })
execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', join(folder, 'tsconfig.build.json')], {
  stdio: 'inherit',
})
// The compiler rewrites the extensions of imports only in JavaScript, not in declarations.
for (const file of globSync('**/*.d.ts', { cwd: dist })) {
  const declarations = readFileSync(join(dist, file), 'utf8')
  writeFileSync(join(dist, file), declarations.replaceAll(/(from '\.[^']+)\.ts'/g, "$1.js'"))
}
const { scripts: _, ...published } = manifest
const exports = { '.': { types: './index.d.ts', default: './index.js' }, './package.json': './package.json' }
writeFileSync(
  join(dist, 'package.json'),
  JSON.stringify({ ...published, exports, types: './index.d.ts' }, null, 2),
)
copyFileSync(join(folder, 'README.md'), join(dist, 'README.md'))
copyFileSync(join(root, 'LICENSE'), join(dist, 'LICENSE'))
