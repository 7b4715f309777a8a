import {
  AnswerBundle,
  type BundledAnswer,
  GetFormsRequest,
  type Identity,
  maxGetFormsBytes,
  NoQuery,
} from '@fms/contracts'
import { type FormText, formNotFound } from '@fms/forms-store'
import { countError, logAnswer } from '@fms/service-kit'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { FormsDeps } from '../app.ts'
import { fitting } from './fitting.ts'
import { formAnswer } from './form-answer.ts'
import { OrganizationParams } from './form-params.ts'
import { getFormRoute } from './get-form.ts'

type Get = GetFormsRequest['gets'][number]

/** Read several forms for the gateway, each as {@link getForm} would, and each with its line in the log. */
export const getForms: FastifyPluginAsyncZod<FormsDeps> = async (app, { forms, publicFormBaseUrl }) => {
  const answer = (
    organizationId: string,
    { formRef, requestId, ifNoneMatch }: Get,
    form: FormText | undefined,
  ): BundledAnswer<string> => {
    if (form) return formAnswer(form, ifNoneMatch, publicFormBaseUrl)
    const error = formNotFound({ organizationId, formRef })
    countError(error.reason)
    return { status: error.httpStatus, body: JSON.stringify(error.toBody(requestId)) }
  }

  const log = (
    { requestId }: Get,
    { status }: BundledAnswer<string>,
    durationMs: number,
    identity: Identity,
  ) => logAnswer(app.log, { method: 'GET', route: getFormRoute, status, durationMs, identity, requestId })

  app.post(
    '/internal/organizations/:organizationId/get-forms',
    {
      schema: { params: OrganizationParams, querystring: NoQuery, body: GetFormsRequest },
      // Each get has a line of its own.
      config: { isQuiet: true },
    },
    async ({ params: { organizationId }, body: { gets }, identity }, reply) => {
      const found = await Promise.all(gets.map(({ formRef }) => forms.getText({ organizationId, formRef })))
      const all = gets.map((get, index) => answer(organizationId, get, found[index]))
      const answers = fitting(maxGetFormsBytes, all)
      for (const [index, get] of gets.entries()) {
        const answer = answers[index]
        if (answer) log(get, answer, reply.elapsedTime, identity)
      }
      return reply.header('content-type', AnswerBundle.mediaType).send(AnswerBundle.encode(answers))
    },
  )
}
