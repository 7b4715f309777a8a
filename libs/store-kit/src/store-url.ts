export interface Migration {
  engine: 'SQLite' | 'MongoDB'
  version: number
}

export interface Engines<T> {
  sqlite(url: string): T
  mongodb(url: string): T
}

/**
 * Calls the function of a URL's engine: `sqlite:PATH`, `mongodb://…` or `mongodb+srv://…`. @throws {Error} for others.
 */
export const byScheme = <T>(store: string, url: string, { sqlite, mongodb }: Engines<T>): T => {
  if (/^sqlite:./.test(url)) return sqlite(url)
  if (/^mongodb(\+srv)?:\/\//.test(url)) return mongodb(url)
  // The URL may contain a password, so the message has only its scheme.
  const scheme = url.split(':')[0]
  throw new Error(`No ${store} store for "${scheme}:" URLs. Use sqlite:PATH or mongodb://HOST:PORT/DATABASE.`)
}

/** The file path of a `sqlite:PATH` URL. @throws {Error} for another scheme. */
export const sqlitePath = (url: string): string => {
  if (!url.startsWith('sqlite:')) throw new Error(`Not a sqlite: URL: ${url.split(':')[0]}:…`)
  return url.slice('sqlite:'.length)
}
