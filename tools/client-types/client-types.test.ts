import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { clientTypes, clientTypesFile } from './generate.ts'

it('the types of the client are those of the OpenAPI document: npm run generate', async () => {
  expect(readFileSync(clientTypesFile, 'utf8')).toBe(await clientTypes())
})
