import { type List, listOf, type Masked, type MaskOptions, type PageQuery } from './pages.ts'
import type { Revision } from './schemas.generated.ts'
import { pathOf } from './transport/references.ts'
import type { CallOptions, Transport } from './transport/transport.ts'
import { type ChangeOptions, postForm, type TaggedForm } from './write-form.ts'

/**
 * The revisions of a form. `organization` is a UUID, slug or `path`; `form` is a UUID, `publicId` or `path`. `live` accepts
 * `-` for the organization: `form` is then a `publicId` in any of the caller's organizations.
 */
export interface Revisions {
  /** Lists revisions, newest first. */
  list(organization: string, form: string, query?: PageQuery): List<Revision>
  /** Lists the members of a mask, such as `path,form.name`. */
  list(organization: string, form: string, query: PageQuery & MaskOptions<Revision>): List<Masked<Revision>>
  /** @param revision UUID, `path`, `live`, or `latest`: the one with the highest number. */
  get(organization: string, form: string, revision: string, options?: CallOptions): Promise<Revision>
  get(
    organization: string,
    form: string,
    revision: string,
    options: CallOptions & MaskOptions<Revision>,
  ): Promise<Masked<Revision>>
  /** The revision that respondents see, with the draft's `aiHandoff`. @throws {FormsApiError} REVISION_NOT_FOUND for none. */
  live(organization: string, form: string, options?: CallOptions): Promise<Revision>
  live(
    organization: string,
    form: string,
    options: CallOptions & MaskOptions<Revision>,
  ): Promise<Masked<Revision>>
  /**
   * Rolls the draft back: it takes over all fields of the revision but `aiHandoff`. Publishes nothing.
   *
   * @param revision UUID, `path`, `latest`, or `live`, which discards what was edited since the last publish.
   * @throws {FormsApiError} REVISION_NOT_RESTORABLE for a revision of an earlier release that the current rules reject.
   */
  rollback(organization: string, form: string, revision: string, options?: ChangeOptions): Promise<TaggedForm>
}

export const revisionsOf = ({ send }: Transport): Revisions => {
  const pathTo = (organization: string, form: string, ...rest: [string, string?][]) =>
    pathOf(['organizations', organization], ['forms', form], ...rest)

  const get = async (
    organization: string,
    form: string,
    revision: string,
    { readMask, signal }: CallOptions & Partial<MaskOptions<Revision>> = {},
  ) => {
    const path = pathTo(organization, form, ['revisions', revision])
    return (await send<Revision>({ method: 'GET', path, query: { readMask }, signal })).body
  }

  return {
    list: (
      organization: string,
      form: string,
      query?: PageQuery & Partial<MaskOptions<Revision>>,
    ): List<Revision> => listOf(send, () => pathTo(organization, form, ['revisions']), 'revisions', query),
    get,
    live: (organization: string, form: string, options?: CallOptions & Partial<MaskOptions<Revision>>) =>
      get(organization, form, 'live', options),
    rollback: async (organization, form, revision, options) =>
      postForm(send, pathTo(organization, form, ['revisions', revision], ['rollback']), options),
  }
}
