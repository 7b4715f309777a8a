import { type Client, isReason } from '@fms/client'
import { organizationOf } from '../routing/organization-of.ts'
import type { ListedForm } from './read-forms.ts'

/** What a badge says about a form. */
export type PublishState = 'live' | 'draft-differs' | 'taken-down' | 'never-published'

/** Compares a form with its revisions. */
export const readPublishState = async (
  client: Client,
  { path, live, updateTime }: Pick<ListedForm, 'path' | 'live' | 'updateTime'>,
  signal: AbortSignal,
): Promise<PublishState> => {
  const organization = organizationOf(path)
  if (!live) return (await hasRevisions(client, path, signal)) ? 'taken-down' : 'never-published'
  try {
    const published = await client.revisions.live(organization, path, { readMask: 'form.updateTime', signal })
    // A snapshot has the time of the draft that it froze.
    if (published.form?.updateTime === updateTime) return 'live'
    const { changes } = await client.forms.changes(organization, path, { signal })
    return changes.length === 0 ? 'live' : 'draft-differs'
  } catch (error) {
    if (isReason(error, 'REVISION_NOT_FOUND')) return 'taken-down'
    throw error
  }
}

const hasRevisions = async (client: Client, path: string, signal: AbortSignal): Promise<boolean> => {
  const list = client.revisions.list(organizationOf(path), path, { pageSize: 1, readMask: 'path', signal })
  const { value: page } = await list.pages().next()
  return page.totalSize > 0
}

/** Runs tasks one after another in a few lanes. */
export const inLanes = async <T>(
  items: readonly T[],
  lanes: number,
  run: (item: T) => Promise<void>,
): Promise<void> => {
  const waiting = [...items]
  const lane = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await run(item)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}
