import { type List, listOf, type PageQuery } from './pages.ts'
import { pathOf } from './references.ts'
import type { Revision } from './resources/revision.ts'
import type { CallOptions, Transport } from './transport.ts'

/**
 * The revisions of a form. `organization` is a UUID, slug or `path`; `form` is a UUID, `publicId` or `path`. `live` accepts
 * `-` for the organization: `form` is then a `publicId` in any of the caller's organizations.
 */
export interface Revisions {
  /** Lists revisions, newest first. */
  list(organization: string, form: string, query?: PageQuery): List<Revision>
  /** @param revision UUID, `path`, `live`, or `latest`: the one with the highest number. */
  get(organization: string, form: string, revision: string, options?: CallOptions): Promise<Revision>
  /**
   * The revision that respondents see, with the `aiHandoff` of the draft.
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
    list: (organization, form, { signal, ...parameters } = {}) =>
      listOf(parameters, async (query) => {
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
