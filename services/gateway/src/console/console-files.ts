import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative } from 'node:path'
import { createStaticDocument, once, type StaticDocument } from '../routes/static-document.ts'

/** The folder into which `npm run build -w console` writes. */
export const builtConsoleFolder = join(import.meta.dirname, '../../../../console/dist')

export const consolePage = 'index.html'

const contentTypes: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Reads all files of the console, by their path below its folder, with `/` on every platform. @throws {Error} if it is not built. */
const readConsoleFiles = async (folder: string): Promise<ReadonlyMap<string, StaticDocument>> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = new Map<string, StaticDocument>()
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name)
    const name = relative(folder, path).replaceAll('\\', '/')
    files.set(name, await toDocument(name, await readFile(path)))
  }
  if (!files.has(consolePage)) throw new Error('the console is not built')
  return files
}

/** Reads the files at the first request, and again while there are none, as during a build. */
export const createConsoleReader = (folder: string) => {
  const files = once(() => readConsoleFiles(folder))
  return () => files().catch(() => undefined)
}

/** The names of assets have a hash of their content, so these files never change. */
const toDocument = (name: string, content: Buffer): Promise<StaticDocument> =>
  createStaticDocument(
    contentTypes[extname(name)] ?? 'application/octet-stream',
    name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    content,
  )
