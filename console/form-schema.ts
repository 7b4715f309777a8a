import { FormDraft } from '@fms/contracts'
import type { Plugin } from 'vite'
import { z } from 'zod'

/** The module that sources of the console import. */
const moduleId = 'virtual:form-schema'

/**
 * Provides the JSON Schema of the writable part of a form as a module. It is built from the contracts, so that the
 * completion of the JSON editor knows the fields of this release.
 */
export const formSchema = (): Plugin => ({
  name: 'form-schema',
  resolveId: (id) => (id === moduleId ? `\0${moduleId}` : undefined),
  load: (id) =>
    id === `\0${moduleId}`
      ? `export default JSON.parse(${JSON.stringify(JSON.stringify(z.toJSONSchema(FormDraft, { io: 'input' })))})`
      : undefined,
})
