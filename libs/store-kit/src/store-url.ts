export interface Migration {
  engine: 'SQLite' | 'MongoDB'
  version: number
}

export interface Engines<T> {
  sqlite(path: string): T
  mongodb(url: string): T
}

/**
 * Calls the function of a URL's engine: `sqlite:PATH`, `mongodb://…` or `mongodb+srv://…`. @throws {Error} for others.
 */
export const byScheme = <T>(store: string, url: string, { sqlite, mongodb }: Engines<T>): T => {
  if (/^sqlite:./.test(url)) return sqlite(url.slice('sqlite:'.length))
  if (/^mongodb(\+srv)?:\/\//.test(url)) return mongodb(url)
  // The URL may contain a password, so the message has only its scheme.
  const scheme = url.split(':')[0]
  throw new Error(`No ${store} store for "${scheme}:" URLs. Use sqlite:PATH or mongodb://HOST:PORT/DATABASE.`)
}
