/** `npm run demo`: creates, edits, publishes, reads and lists a form on a running system, printing each step. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { withoutBlanks } from '@fms/service-kit/settings'
import { readIfExists } from '@fms/testkit/secret-file'
import { z } from 'zod'
import { type Client, createClient, FormsConnectionError } from '../libs/client/src/index.ts'
import { type StartedSystem, systemFile } from './banner.ts'
import { urlOf } from './services.ts'

const config = z
  .object({
    /** The address of the system. Default: the one of DATA_DIR, or port 8080 for another system. */
    HOST: z.string().optional(),
    PORT: z.string().optional(),
    DATA_DIR: z.string().default('.data'),
    /** API key of the requests. Default: the demo key that `npm start` stores in DATA_DIR. */
    DEMO_API_KEY: z.string().optional(),
    /** Slug of the organization that gets the form. */
    DEMO_ORGANIZATION: z.string().default('demo'),
  })
  .parse(withoutBlanks(process.env))

const baseUrl = readBaseUrl() ?? `${urlOf(config.HOST ?? '127.0.0.1', Number(config.PORT ?? 8080))}/v2`
const organization = config.DEMO_ORGANIZATION

try {
  await runDemo(
    createClient({
      baseUrl,
      apiKey: config.DEMO_API_KEY ?? readDemoKey(),
      fetch: fetchAndPrint,
      maxRetries: 0,
    }),
  )
} catch (error) {
  process.stderr.write(`npm run demo: ${messageFor(error)}\n`)
  process.exitCode = 1
}

async function runDemo({ forms, revisions }: Client) {
  printHeading('Create a form')
  const { form } = await forms.create(organization, {
    name: 'Customer feedback',
    steps: [
      { type: 'start', key: 'hello', title: 'How was your visit?', buttonText: 'Tell us' },
      { type: 'rating', key: 'stars', title: 'Your rating', max: 5 },
      { type: 'end', key: 'thanks', title: 'Thank you' },
    ],
  })
  const ref = form.publicId

  printHeading('Check an edit without making it')
  await forms.update(organization, ref, { name: 'How was it?' }, { validateOnly: true })

  printHeading('Make the edit: only what the patch names changes')
  await forms.update(organization, ref, { name: 'How was it?', theme: { primaryColor: '#0f766e' } })

  printHeading('Publish the draft')
  await forms.publish(organization, ref)

  printHeading('Read the live revision')
  await revisions.live(organization, ref)

  printHeading('List the forms by name')
  await forms.list(organization, { pageSize: 3, filter: 'name = "How*"', orderBy: 'name' }).pages().next()

  printHeading('Delete the form')
  await forms.delete(organization, ref)
  process.stdout.write('\nDone: create, edit, publish, read, list and delete all worked.\n')
}

/** `fetch`, printing each request and response of the client. */
async function fetchAndPrint(url: string, init: RequestInit) {
  const response = await fetch(url, init)
  const path = decodeURIComponent(url.slice(baseUrl.length))
  const body = (await response
    .clone()
    .json()
    .catch(() => ({}))) as ResponseBody
  process.stdout.write(`${init.method} ${path}\n  ${response.status} ${summaryOf(body)}\n`)
  return response
}

function messageFor(error: unknown): string {
  if (!(error instanceof FormsConnectionError)) return (error as Error).message
  return `No service responds at ${baseUrl}. Run npm start in another terminal first.`
}

/** A resource, a page of resources, or an error. */
type ResponseBody = Record<string, unknown>

/** The members that change from step to step; a whole form fills a screen. */
function summaryOf(body: ResponseBody): string {
  const { path, name, publicId, live, updateTime, alternateIds, totalSize, forms, form, error } = body
  return JSON.stringify({
    path,
    name,
    publicId,
    live,
    updateTime,
    alternateIds,
    totalSize,
    forms: (forms as { name: string }[] | undefined)?.map((each) => each.name),
    form: form && { name: (form as { name: string }).name },
    error,
  })
}

function printHeading(text: string) {
  process.stdout.write(`\n# ${text}\n`)
}

/** The base URL of the system of DATA_DIR, unless an address or a key is given. */
function readBaseUrl(): string | undefined {
  if (config.HOST ?? config.PORT ?? config.DEMO_API_KEY) return undefined
  const system = readIfExists(join(config.DATA_DIR, systemFile))
  return system && (JSON.parse(system) as StartedSystem).baseUrl
}

function readDemoKey(): string {
  const file = join(config.DATA_DIR, 'demo-api-key')
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new Error(`No demo key in ${file}. Run npm start first, or set DEMO_API_KEY.`, { cause })
  }
}
