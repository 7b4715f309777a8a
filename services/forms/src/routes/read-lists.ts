import { ApiError } from '@fms/aip'
import { AnswerBundle, type BundledAnswer, maxListsBytes, NoQuery, ReadListsRequest } from '@fms/contracts'
import { logAnswer } from '@fms/service-kit'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { FormsDeps } from '../app.ts'
import { fitting } from './fitting.ts'
import { OrganizationParams } from './form-params.ts'
import { listAnswer, toListQuery } from './list-answer.ts'
import { listFormsRoute } from './list-forms.ts'

/**
 * Read several lists for the gateway, each as {@link listForms} would, and with a line in the log for each request that
 * asks for it. A query that is refused is left out, and so is a list that is too long to go with those before.
 */
export const readLists: FastifyPluginAsyncZod<FormsDeps> = async (app, deps) => {
  const answer = async (
    organizationId: string,
    query: unknown,
  ): Promise<BundledAnswer<string> | undefined> => {
    const list = soundQuery(() => toListQuery(organizationId, query, deps))
    return list && { status: 200, body: await listAnswer(list, deps) }
  }

  app.post(
    '/internal/organizations/:organizationId/read-lists',
    {
      schema: { params: OrganizationParams, querystring: NoQuery, body: ReadListsRequest },
      // Each list has lines of its own.
      config: { isQuiet: true },
    },
    async ({ params: { organizationId }, body: { lists }, identity }, reply) => {
      const answers = fitting(
        maxListsBytes,
        await Promise.all(lists.map(({ query }) => answer(organizationId, query))),
      )
      const answered = lists.filter((_, index) => answers[index])
      const line = {
        method: 'GET',
        route: listFormsRoute,
        status: 200,
        durationMs: reply.elapsedTime,
        identity,
      }
      for (const requestId of answered.flatMap(({ requestIds }) => requestIds))
        logAnswer(app.log, { ...line, requestId })
      return reply.header('content-type', AnswerBundle.mediaType).send(AnswerBundle.encode(answers))
    },
  )
}

/** Undefined for one that is refused: whoever asks hears why when it asks by itself. */
const soundQuery = <Query>(read: () => Query): Query | undefined => {
  try {
    return read()
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}
