declare module 'virtual:form-schema' {
  import type { JsonSchema } from './json/schema-at.ts'

  /** The JSON Schema of the writable part of a form: console/form-schema.ts. */
  const schema: JsonSchema
  export default schema
}
