/** The environment of services, for programs that are none: the rest of this package loads 400 modules. */
export * from './config.ts'
export * from './config-edge.ts'
export * from './config-urls.ts'
export * from './sample-secrets.ts'
