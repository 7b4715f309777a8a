/** What a store is like after its migration. */
export interface Migration {
  engine: 'SQLite' | 'MongoDB'
  /** Of the schema. */
  version: number
}

export interface Engines<T> {
  sqlite(url: string): T
  mongodb(url: string): T
}

/**
 * Does what the engine of a store's URL asks for: `sqlite:PATH`, `mongodb://…` or `mongodb+srv://…`.
 *
 * @param store whose URL it is, for the error.
 */
export const byScheme = <T>(store: string, url: string, { sqlite, mongodb }: Engines<T>): T => {
  if (url.startsWith('sqlite:')) return sqlite(url)
  if (/^mongodb(\+srv)?:\/\//.test(url)) return mongodb(url)
  // Not the whole URL: it may hold a password.
  const scheme = url.split(':')[0]
  throw new Error(`No ${store} store for "${scheme}:" URLs. Use sqlite:PATH or mongodb://HOST:PORT/DATABASE.`)
}
