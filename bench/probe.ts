import { formNameOf } from './forms.ts'
import type { HttpLoad } from './load.ts'
import { headersOf, type Operation, type Place, requestsOf, statusOf } from './requests.ts'

/** Sends one request of the load and looks at its answer, so that nothing fast and wrong is measured. */
export const probe = async ({ operation, place }: HttpLoad): Promise<void> => {
  const request = (await requestsOf(operation, place))()
  const response = await fetch(new URL(request.path, place.baseUrl), {
    method: request.method,
    headers: headersOf(place.apiKeys[0]!, request),
    ...(request.body !== undefined && { body: request.body }),
  })
  const text = await response.text()
  if (response.status === statusOf(operation) && isRight(operation, place, text)) return
  throw new Error(
    `${operation}: ${request.method} ${request.path} answers ${response.status} ${text.slice(0, 500)}`,
  )
}

const isRight = (operation: Operation, { forms }: Place, text: string): boolean => {
  if (operation === 'mix') return true
  if (operation === 'live 304') return text === ''
  const answer = JSON.parse(text) as {
    name?: string
    forms?: unknown[]
    live?: boolean
    form?: { name: string }
  }
  if (operation === 'publish') return answer.live === true
  if (operation === 'live') return answer.form?.name.length === formNameOf(0).length
  if (answer.forms) return answer.forms.length === Math.min(10, forms)
  return answer.name?.length === formNameOf(0).length
}
