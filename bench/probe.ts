import { formNameOf } from './forms.ts'
import type { HttpLoad } from './load.ts'
import { headersOf, requestsOf } from './requests.ts'

/** Sends one request of the load and looks at its answer, so that nothing fast and wrong is measured. */
export const probe = async ({ operation, place }: HttpLoad): Promise<void> => {
  const request = requestsOf(operation, place)()
  const response = await fetch(new URL(request.path, place.baseUrl), {
    method: request.method,
    headers: headersOf(place, request),
    ...(request.body !== undefined && { body: request.body }),
  })
  const answer = (await response.json()) as { name?: string; forms?: unknown[]; live?: boolean }
  const isRight =
    operation === 'publish'
      ? answer.live === true
      : operation === 'list' || operation === 'filtered list'
        ? answer.forms?.length === Math.min(10, place.forms)
        : answer.name?.length === formNameOf(0).length
  if (response.status === 200 && (isRight || operation === 'mix')) return
  throw new Error(
    `${request.method} ${request.path} answers ${response.status} ${JSON.stringify(answer).slice(0, 500)}`,
  )
}
