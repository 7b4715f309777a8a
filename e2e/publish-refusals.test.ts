import { describe, expect, it } from 'vitest'
import { buildOpenApi } from '../services/gateway/src/openapi/build-openapi.ts'
import { sharedSystem } from './shared-system.ts'

const system = await sharedSystem()
const account = await system.account()

const path = '/organizations/{organizationRef}/forms/{formRef}/publish'
const examples: Record<string, { value: unknown }> =
  // biome-ignore lint/suspicious/noExplicitAny: a part of a document
  (buildOpenApi().paths as any)[path].post.responses[400].content['application/json'].examples

const question = { type: 'choice', key: 'visit', options: ['in the shop', 'online'] }
const end = { type: 'end', key: 'end' }
const branch = (stepKey: string, targetStepKey: string) => ({
  ...question,
  branches: [{ targetStepKey, groups: [[{ stepKey, operator: 'equals', value: 'online' }]] }],
})

describe('the examples of a refused publish in the OpenAPI document', () => {
  it.each<[string, object]>([
    ['BRANCH_TARGET', { steps: [branch('visit', 'gone'), end] }],
    ['CONDITION_STEP', { steps: [branch('end', 'end'), end] }],
    ['END_STEP', { steps: [end, question] }],
    ['LOCALE', { steps: [question], i18n: { sourceLocale: 'en', supportedLocales: ['de'] } }],
    ['MODE', { steps: [question], defaultMode: 'voice' }],
    [
      'PRICE_RANGE',
      {
        steps: [question],
        marketplace: { services: [{ name: 'Visit', priceRange: { min: 2, max: 1 } }] },
      },
    ],
    ['QUESTIONS', { steps: [] }],
    ['START_STEP', { steps: [question, { type: 'start', key: 'hello' }] }],
    [
      'TRANSLATED_STEP',
      {
        steps: [question],
        i18n: { supportedLocales: ['en', 'de'], translations: { de: { steps: { gone: {} } } } },
      },
    ],
  ])('are what the service says: %s', async (rule, form) => {
    const { body } = await system.call(account, 'POST', account.forms, { form })

    expect(await refusal(body.publicId, {})).toEqual(exampleOf(`DRAFT_NOT_PUBLISHABLE: ${rule}`))
  })

  it.each<[string, object[]]>([
    ['OPTION_REMOVED', [{ ...question, options: ['in the shop'] }]],
    ['STEP_REMOVED', [{ type: 'text', key: 'why' }]],
    ['STEP_TYPE_CHANGED', [{ ...question, type: 'dropdown' }]],
  ])('are what the service says with refuseBreaking: %s', async (rule, steps) => {
    const { body } = await system.call(account, 'POST', account.forms, { form: { steps: [question] } })
    const form = `${account.forms}/${body.publicId}`
    await system.call(account, 'POST', `${form}/publish`)
    await system.call(account, 'PATCH', form, { form: { steps } })

    expect(await refusal(body.publicId, { refuseBreaking: true })).toEqual(
      exampleOf(`BREAKING_CHANGES: ${rule}`),
    )
  })
})

/** The error of a publish, with the request id of the examples. */
const refusal = async (form: string, body: object) => {
  const { requestId } = requestInfoOf(Object.values(examples).at(-1)!.value)
  const response = await system.call(account, 'POST', `${account.forms}/${form}/publish`, body)
  expect(response.status).toBe(400)
  requestInfoOf(response.body).requestId = requestId
  return response.body
}

const exampleOf = (name: string) => examples[name]!.value

// biome-ignore lint/suspicious/noExplicitAny: the body of an error
const requestInfoOf = (body: any): { requestId: string } => body.error.details.at(-1)
