import { execFileSync } from 'node:child_process'
import { copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// Builds dist/ and copies LICENSE for the package: `npm run build -w libs/client`.
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
copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
