import { formNameOf } from '../data/generated-forms.ts'
import type { HttpLoad } from './load-generator.ts'
import { headersOf, type LoadTarget, type Operation, requestsOf, statusOf } from './requests.ts'

/** Sends one request of the load and checks its response. @throws {Error} when it is not the expected one. */
export const probe = async ({ operation, target }: HttpLoad): Promise<void> => {
  const request = (await requestsOf(operation, target))()
  const response = await fetch(new URL(request.path, target.baseUrl), {
    method: request.method,
    headers: headersOf(target.apiKeys[0]!, request),
    ...(request.body !== undefined && { body: request.body }),
  })
  const text = await response.text()
  if (response.status === statusOf(operation) && isExpected(operation, target, text)) return
  throw new Error(
    `${operation}: ${request.method} ${request.path} returned ${response.status} ${text.slice(0, 500)}`,
  )
}

const isExpected = (operation: Operation, { forms }: LoadTarget, text: string): boolean => {
  if (operation === 'mix') return true
  if (operation === 'live 304') return text === ''
  const body = JSON.parse(text) as {
    name?: string
    forms?: unknown[]
    live?: boolean
    form?: { name: string }
  }
  if (operation === 'publish') return body.live === true
  if (operation === 'live') return body.form?.name.length === formNameOf(0).length
  if (body.forms) {
    const pageSize = operation.endsWith('list of 1000') ? 1000 : 10
    return body.forms.length === Math.min(pageSize, forms)
  }
  return body.name?.length === formNameOf(0).length
}
