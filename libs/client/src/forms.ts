import { isReason } from './errors.ts'
import { type List, type ListQuery, listOf, type Masked, type MaskOptions } from './pages.ts'
import type { FormInput } from './resources.ts'
import type { Form, FormChanges, FormCheck, FormOrderField, FormPatch } from './schemas.generated.ts'
import { idOf, pathOf } from './transport/references.ts'
import type { CallOptions, Transport } from './transport/transport.ts'
import {
  type ChangeOptions,
  deleteForm,
  newRequestId,
  postForm,
  sendForm,
  type TaggedForm,
  type WriteOptions,
} from './write-form.ts'

export interface CreateOptions extends WriteOptions {
  /** Id of the form: a UUID that no other form of the organization has. Default: the service chooses one. */
  formId?: string
}

export interface PublishOptions extends ChangeOptions {
  /** What the publish changes, or why: `note` of the revision. At most 500 characters; default `""`. */
  note?: string
  /** Publishes nothing if a change since the live revision orphans answers: BREAKING_CHANGES. Default false. */
  refuseBreaking?: boolean
}

export interface UnpublishOptions extends ChangeOptions {
  /** Why the form is taken down, for its event. At most 500 characters. */
  note?: string
}

export interface ChangesQuery extends CallOptions {
  /** The former state: the UUID or `path` of a revision, `live`, or `latest`; default `live`. */
  from?: string
  /** The later state: `draft`, or a revision as in `from`; default `draft`. */
  to?: string
}

export interface EditOptions extends CallOptions {
  /** Maximum number of attempts while others change the form concurrently; default 10. */
  maxAttempts?: number
}

/** Forms. `organization` is a UUID, slug or `path`; `form` is a UUID, `publicId` or `path`. */
export interface Forms {
  /** Creates a form. @throws {FormsApiError} FORM_ID_TAKEN for the id of another form, or of one that can be restored. */
  create(organization: string, form: FormInput, options?: CreateOptions): Promise<TaggedForm>
  /** Checks a form that need not exist: could it be published, and what would trouble respondents? Stores nothing. */
  check(organization: string, form: FormInput, options?: CallOptions): Promise<FormCheck>
  /** Reads the draft. With `-` for the organization, `form` is a `publicId` in any of the caller's organizations. */
  get(organization: string, form: string, options?: CallOptions): Promise<TaggedForm>
  /** Reads the members of a mask. The ETag is that of the form, and so valid for `ifMatch`. */
  get(
    organization: string,
    form: string,
    options: CallOptions & MaskOptions<Form>,
  ): Promise<TaggedForm<Masked<Form>>>
  /** Lists forms, by default the most recently updated first. Order by `createTime` to list all while others write. */
  list(organization: string, query?: ListQuery<FormOrderField>): List<Form>
  /** Lists the members of a mask. Fastest with members that the service has outside of the draft, such as `name,live`. */
  list(organization: string, query: ListQuery<FormOrderField> & MaskOptions<Form>): List<Masked<Form>>
  /** Applies a merge patch to the draft (RFC 7396). Without a `requestId`, a retry applies it to a later draft, too. */
  update(organization: string, form: string, patch: FormPatch, options?: ChangeOptions): Promise<TaggedForm>
  /** Deletes the form and its revisions. `deletedForms.undelete` restores it for as long as the service keeps it. */
  delete(organization: string, form: string, options?: ChangeOptions): Promise<void>
  /** Freezes the draft as a revision and makes the revision live. */
  publish(organization: string, form: string, options?: PublishOptions): Promise<TaggedForm>
  /** Takes the form down until the next publish. Draft and revisions stay. @throws {FormsApiError} FORM_NOT_LIVE */
  unpublish(organization: string, form: string, options?: UnpublishOptions): Promise<TaggedForm>
  /** Compares two states of a form, by default the live revision and the draft. @throws {FormsApiError} REVISION_NOT_FOUND */
  changes(organization: string, form: string, query?: ChangesQuery): Promise<FormChanges>
  /**
   * Reads the draft and applies the patch that `change` returns, once. Starts over if the draft has changed meanwhile.
   *
   * @param change called once per attempt; returns undefined to end the edit without a write.
   * @throws {FormsApiError} FORM_MOVED after the last attempt; another error if the outcome of the write is unknown.
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
    create: async (organization, form, { formId, ...options } = {}) =>
      postForm(send, pathOf(['organizations', organization], ['forms']), options, { form, formId }),

    check: async (organization, form, { signal } = {}) => {
      const path = pathOf(['organizations', organization], ['forms'], ['check'])
      return (await send<FormCheck>({ method: 'POST', path, body: { form }, signal })).body
    },

    get: async (
      organization: string,
      form: string,
      options: CallOptions & Partial<MaskOptions<Form>> = {},
    ) => {
      const { readMask, signal } = options
      return sendForm(send, { method: 'GET', path: pathTo(organization, form), query: { readMask }, signal })
    },

    list: (
      organization: string,
      query?: ListQuery<FormOrderField> & Partial<MaskOptions<Form>>,
    ): List<Form> => listOf(send, () => pathOf(['organizations', organization], ['forms']), 'forms', query),

    update: async (organization, form, patch, options = {}) => {
      const { requestId, ifMatch, validateOnly = false, signal } = options
      return sendForm(send, {
        method: 'PATCH',
        path: pathTo(organization, form),
        body: { form: patch, requestId, validateOnly },
        ifMatch,
        signal,
        // Without a requestId, an earlier attempt of this call may have changed the form.
        isUndecidedBy: (rejection) => requestId === undefined && isReason(rejection, 'FORM_MOVED'),
      })
    },

    delete: async (organization, form, options) => deleteForm(send, pathTo(organization, form), options),

    publish: async (organization, form, { note, refuseBreaking, ...options } = {}) =>
      postForm(send, pathTo(organization, form, 'publish'), options, { note, refuseBreaking }),

    unpublish: async (organization, form, { note, ...options } = {}) =>
      postForm(send, pathTo(organization, form, 'unpublish'), options, { note }),

    changes: async (organization, form, { from = 'live', to = 'draft', signal } = {}) => {
      const path = pathTo(organization, form, 'changes')
      return (
        await send<FormChanges>({ method: 'GET', path, query: { from: idOf(from), to: idOf(to) }, signal })
      ).body
    },

    edit: async (organization, form, change, { maxAttempts = 10, signal } = {}) => {
      for (let attempt = 1; ; attempt++) {
        const current = await forms.get(organization, form, { signal })
        const patch = await change(current.form)
        if (patch === undefined) return current
        try {
          const once = { ifMatch: current.etag, requestId: newRequestId(), signal }
          return await forms.update(organization, form, patch, once)
        } catch (error) {
          if (!isReason(error, 'FORM_MOVED') || attempt >= maxAttempts) throw error
          await pause(attempt - 1, signal)
        }
      }
    },
  }
  return forms
}
