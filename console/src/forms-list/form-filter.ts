import type { FormType } from '@fms/client'

/** The orders of a list (AIP-132), the default first. */
export const orders = ['updateTime desc', 'createTime desc', 'name', 'replyCount desc'] as const

/** What a list of forms shows. */
export interface FormsQuery {
  /** A part of the name, letter case ignored. */
  search: string
  type: FormType | 'any'
  live: 'any' | 'live' | 'not-live'
  orderBy: (typeof orders)[number]
}

/** The filter of a list (AIP-160) for what the service can filter by: name and type. */
export const filterOf = ({ search, type }: Pick<FormsQuery, 'search' | 'type'>): string =>
  [
    ...(search.trim() === '' ? [] : [`search(${quoted(search.trim())})`]),
    ...(type === 'any' ? [] : [`type = ${type}`]),
  ].join(' AND ')

/** A quoted literal. `*` needs no escape in `search()`. */
const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&').replaceAll(/[\n\r\t]/g, ' ')}"`

/** Whether a form is to be shown. The service does not filter by `live`. */
export const matches = ({ live }: Pick<FormsQuery, 'live'>, form: { live?: boolean | undefined }): boolean =>
  live === 'any' || (form.live ?? false) === (live === 'live')
