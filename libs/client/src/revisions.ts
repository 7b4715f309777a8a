import { type List, listOf, type PageQuery } from './pages.ts'
import { pathOf } from './references.ts'
import type { Revision } from './resources/revision.ts'
import type { CallOptions, Transport } from './transport.ts'

/**
 * What was published of a form. A form is named by its UUID, `publicId` or `path`. `live` takes `-` for an organization:
 * whichever of yours has the form with that `publicId`.
 */
export interface Revisions {
  /** Newest first. */
  list(organization: string, form: string, query?: PageQuery): List<Revision>
  /** @param revision UUID, `path`, or `live`. */
  get(organization: string, form: string, revision: string, options?: CallOptions): Promise<Revision>
  /**
   * What respondents see now, with `aiHandoff` as the draft has it.
   *
   * @throws {FormsApiError} REVISION_NOT_FOUND before the first publish.
   */
  live(organization: string, form: string, options?: CallOptions): Promise<Revision>
}

export const revisionsOf = ({ send }: Transport): Revisions => {
  const get: Revisions['get'] = async (organization, form, revision, { signal } = {}) => {
    const path = pathOf(['organizations', organization], ['forms', form], ['revisions', revision])
    return (await send<Revision>({ method: 'GET', path, signal })).body
  }
  return {
    get,
    live: (organization, form, options) => get(organization, form, 'live', options),
    list: (organization, form, { signal, ...place } = {}) =>
      listOf(place, async (query) => {
        const path = pathOf(['organizations', organization], ['forms', form], ['revisions'])
        const { revisions: items, ...page } = (
          await send<RevisionsPage>({ method: 'GET', path, query, signal })
        ).body
        return { items, ...page }
      }),
  }
}

interface RevisionsPage {
  revisions: Revision[]
  totalSize: number
  nextPageToken: string
}
