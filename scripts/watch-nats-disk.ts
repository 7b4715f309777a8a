import { statfs } from 'node:fs/promises'

/** Between two looks, in milliseconds. */
const intervalMs = 1_000

/** How long nats-server may take to answer, in milliseconds. */
const timeoutMs = 1_000

/** With less room, nats-server would fail again at once. Bytes. */
const minFreeBytes = 64 * 1024 * 1024

export interface NatsDisk {
  /** Where nats-server reports its health, as `http://host:port/healthz`. */
  healthUrl: string
  /** A folder on the disk of its streams. */
  folder: string
  /** Makes nats-server start anew. */
  restart(): void
}

/**
 * Brings streams back after a full disk: nats-server keeps a stream whose write failed closed until it starts anew,
 * however much room there is by then. Looks once a second and restarts it as soon as there is room.
 *
 * @returns a function that ends the watch.
 */
export function watchNatsDisk({ healthUrl, folder, restart }: NatsDisk): () => void {
  let looking = false
  const look = async () => {
    if (looking) return
    looking = true
    try {
      if ((await hasWriteError(healthUrl)) && (await freeBytes(folder)) >= minFreeBytes) restart()
    } finally {
      looking = false
    }
  }
  const timer = setInterval(look, intervalMs)
  return () => clearInterval(timer)
}

async function hasWriteError(healthUrl: string): Promise<boolean> {
  try {
    const response = await fetch(healthUrl, { signal: AbortSignal.timeout(timeoutMs) })
    const { error = '' } = (await response.json()) as { error?: string }
    return error.includes('write error')
  } catch {
    // It starts, or stops: its supervisor sees to that.
    return false
  }
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
