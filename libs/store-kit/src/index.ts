export * from './errors.ts'
export * from './sql.ts'
export * from './sqlite-database.ts'
