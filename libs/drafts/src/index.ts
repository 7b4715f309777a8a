export * from './publish-checks.ts'
