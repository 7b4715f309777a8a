import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { buildAsyncApi } from './build-asyncapi.ts'

/** The path of the document in the repository. */
export const asyncApiFile = fileURLToPath(new URL('../../docs/asyncapi.yaml', import.meta.url))

/** The document as YAML. `npm run generate` writes it to docs/asyncapi.yaml. */
export const asyncApiText = (): string =>
  `# Generated from libs/contracts by npm run generate.\n${stringify(buildAsyncApi(), { aliasDuplicateObjects: false, lineWidth: 100 })}`

if (import.meta.main) writeFileSync(asyncApiFile, asyncApiText())
