import { isReason } from './errors.ts'
import { type List, type ListQuery, listOf } from './pages.ts'
import { pathOf } from './references.ts'
import type { Form } from './resources/form.ts'
import type { FormInput, FormPatch } from './resources/form-patch.ts'
import type { Answer, CallOptions, Transport } from './transport.ts'

/** A form in the state that its ETag stands for. */
export interface TaggedForm {
  form: Form
  /** For `ifMatch`, as it is. A dry run has none: `""`, which `ifMatch` refuses. */
  etag: string
}

/** What every write takes. */
export interface WriteOptions extends CallOptions {
  /** Make every check and store nothing; the answer is what the write would have answered. */
  validateOnly?: boolean
}

/** What a write to an existing form takes. */
export interface ChangeOptions extends WriteOptions {
  /** Refuse (FORM_MOVED) unless the draft is in the state of this ETag. */
  ifMatch?: string
}

export interface PublishOptions extends ChangeOptions {
  /** A UUID: the same one again publishes nothing twice. Default: a fresh one for each call. */
  requestId?: string
}

export interface EditOptions extends CallOptions {
  /** How often to read and try while others change the form at the same time; default 10. */
  maxAttempts?: number
}

/** Forms of an organization, named by UUID, slug or `path`. A form is named by its UUID, `publicId` or `path`. */
export interface Forms {
  /** A second call makes a second form. A failure other than a refusal may have left one behind, too. */
  create(organization: string, form: FormInput, options?: WriteOptions): Promise<TaggedForm>
  /** The draft. With `-` for an organization: of whichever of yours has the form with this `publicId`. */
  get(organization: string, form: string, options?: CallOptions): Promise<TaggedForm>
  /** Most recently updated first, unless `orderBy` says otherwise; by `createTime` for a complete sweep. */
  list(organization: string, query?: ListQuery): List<Form>
  /** Applies a merge patch to the draft; respondents see nothing of it before the next publish. */
  update(organization: string, form: string, patch: FormPatch, options?: ChangeOptions): Promise<TaggedForm>
  /** Deletes the form and its revisions. */
  delete(organization: string, form: string, options?: ChangeOptions): Promise<void>
  /** Freezes the draft as a revision and makes it the live one. */
  publish(organization: string, form: string, options?: PublishOptions): Promise<TaggedForm>
  /**
   * Reads the draft, applies the patch that `change` makes of it, and starts over if somebody else was faster.
   *
   * @param change called once per attempt; undefined ends the edit without a write.
   * @throws {FormsApiError} FORM_MOVED after the last attempt; another error if it is not known whether the patch
   * was applied.
   */
  edit(
    organization: string,
    form: string,
    change: (form: Form) => FormPatch | undefined | Promise<FormPatch | undefined>,
    options?: EditOptions,
  ): Promise<TaggedForm>
}

export const formsOf = ({ send, pause }: Transport): Forms => {
  const pathTo = (organization: string, form: string, ...action: string[]) =>
    pathOf(['organizations', organization], ['forms', form], ...action.map((name): [string] => [name]))

  const forms: Forms = {
    create: async (organization, form, { validateOnly = false, signal } = {}) =>
      tagged(
        await send<Form>({
          method: 'POST',
          path: pathOf(['organizations', organization], ['forms']),
          body: { form, validateOnly },
          signal,
          onlyOnce: !validateOnly,
        }),
      ),

    get: async (organization, form, { signal } = {}) =>
      tagged(await send<Form>({ method: 'GET', path: pathTo(organization, form), signal })),

    list: (organization, { filter, orderBy, signal, ...place } = {}) =>
      listOf(place, async ({ pageSize, ...from }) => {
        const path = pathOf(['organizations', organization], ['forms'])
        const query = { pageSize, filter, orderBy, ...from }
        const { forms: items, ...page } = (await send<FormsPage>({ method: 'GET', path, query, signal })).body
        return { items, ...page }
      }),

    update: async (organization, form, patch, { ifMatch, validateOnly = false, signal } = {}) =>
      tagged(
        await send<Form>({
          method: 'PATCH',
          path: pathTo(organization, form),
          body: { form: patch, validateOnly },
          ifMatch,
          signal,
          // The one who moved the form may have been this very call: nobody knows, so that is what is told.
          refusedAfterDoubt(refusal, doubt) {
            throw isReason(refusal, 'FORM_MOVED') ? doubt : refusal
          },
        }),
      ),

    delete: async (organization, form, { ifMatch, validateOnly = false, signal } = {}) => {
      await send({
        method: 'DELETE',
        path: pathTo(organization, form),
        // In the query, since proxies may drop the body, and a dry run must not delete.
        ...(validateOnly && { query: { validateOnly } }),
        ifMatch,
        signal,
        refusedAfterDoubt(refusal) {
          if (validateOnly || !isReason(refusal, 'FORM_NOT_FOUND')) throw refusal
        },
      })
    },

    publish: async (organization, form, options = {}) => {
      const { requestId = crypto.randomUUID(), ifMatch, validateOnly = false, signal } = options
      return tagged(
        await send<Form>({
          method: 'POST',
          path: pathTo(organization, form, 'publish'),
          body: { requestId, validateOnly },
          ifMatch,
          signal,
        }),
      )
    },

    edit: async (organization, form, change, { maxAttempts = 10, signal } = {}) => {
      for (let attempt = 1; ; attempt++) {
        const current = await forms.get(organization, form, { signal })
        const patch = await change(current.form)
        if (patch === undefined) return current
        try {
          return await forms.update(organization, form, patch, { ifMatch: current.etag, signal })
        } catch (error) {
          if (!isReason(error, 'FORM_MOVED') || attempt >= maxAttempts) throw error
          await pause(attempt - 1, signal)
        }
      }
    },
  }
  return forms
}

const tagged = ({ body: form, etag }: Answer<Form>): TaggedForm => ({ form, etag })

interface FormsPage {
  forms: Form[]
  totalSize: number
  nextPageToken: string
}
