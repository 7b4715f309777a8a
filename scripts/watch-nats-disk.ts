import { statfs } from 'node:fs/promises'

/** Between two checks, in milliseconds. */
const intervalMs = 1_000

const timeoutMs = 1_000

/** With less free space, nats-server would fail again immediately. Bytes. */
const minFreeBytes = 64 * 1024 * 1024

export interface NatsDisk {
  /** Health endpoint of nats-server, `http://host:port/healthz`. */
  healthUrl: string
  /** A folder on the disk that holds its streams. */
  folder: string
  restart(): void
}

/**
 * Recovers streams after a full disk: once a write has failed, nats-server keeps the stream closed until it restarts,
 * which happens here once 64 MiB are free. Returns a function that stops the checks.
 */
export function watchNatsDisk({ healthUrl, folder, restart }: NatsDisk): () => void {
  let checking = false
  const check = async () => {
    if (checking) return
    checking = true
    try {
      if ((await hasWriteError(healthUrl)) && (await freeBytes(folder)) >= minFreeBytes) restart()
    } finally {
      checking = false
    }
  }
  const timer = setInterval(check, intervalMs)
  return () => clearInterval(timer)
}

async function hasWriteError(healthUrl: string): Promise<boolean> {
  try {
    const response = await fetch(healthUrl, { signal: AbortSignal.timeout(timeoutMs) })
    const { error = '' } = (await response.json()) as { error?: string }
    return error.includes('write error')
  } catch {
    // It is starting or stopping; the supervisor handles both.
    return false
  }
}

async function freeBytes(folder: string): Promise<number> {
  // The folder of a lost volume has none.
  const { bavail, bsize } = await statfs(folder).catch(() => ({ bavail: 0, bsize: 0 }))
  return bavail * bsize
}
