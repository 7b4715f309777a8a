export * from './errors.ts'
export * from './filter-sql.ts'
export * from './sql.ts'
export * from './sqlite-database.ts'
