/** The JSON Schema of the writable part of a form in this release: vite.config.ts defines it. */
declare const formSchema: import('./schema-at.ts').JsonSchema
