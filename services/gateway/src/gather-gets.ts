import { type GetFormsRequest, maxGets } from '@fms/contracts'
import type { FastifyRequest } from 'fastify'
import { askBundle } from './ask-bundle.ts'
import { askTogether } from './ask-together.ts'
import { type Ask, harmlessRef, queryOf } from './proxy.ts'
import type { Upstream } from './upstreams.ts'

/** Gets of a form by one caller that arrive together go on as one question (decision 8). */
export const gatherGets = (forms: Upstream, alone: Ask): Ask =>
  askTogether(
    {
      fits: ({ raw }) => queryOf(raw.url!) === '',
      atOnce: maxGets,
      ask: (requests) => askBundle(forms, 'get-forms', requests[0], { gets: requests.map(toGet) }),
    },
    alone,
  )

const toGet = ({ id, params, headers }: FastifyRequest): GetFormsRequest['gets'][number] => ({
  formRef: harmlessRef((params as { formRef: string }).formRef),
  requestId: id,
  ifNoneMatch: headers['if-none-match'],
})
