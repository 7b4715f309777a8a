export * from './errors.ts'
export * from './sqlite-database.ts'
