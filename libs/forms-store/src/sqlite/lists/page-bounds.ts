/** The most that the read of a page may work on. */
export interface PageBounds {
  /** Forms that a filter or a sort reads, and revisions that are counted. */
  scanned: number
  /** Index entries that are skipped. */
  skipped: number
  /** Size of the drafts or snapshots of the page. */
  bytes: number
}

/** What the main thread reads: one to two milliseconds. */
export const smallPage: PageBounds = { scanned: 500, skipped: 1_000, bytes: 256 * 1024 }

/** What a reader thread reads. */
export const anyPage: PageBounds = {
  scanned: Number.MAX_SAFE_INTEGER,
  skipped: Number.MAX_SAFE_INTEGER,
  bytes: Number.MAX_SAFE_INTEGER,
}
