/** `npm run demo`: creates, edits, publishes, reads and lists a form on a running system, printing each step. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const config = z
  .object({
    HOST: z.string().default('127.0.0.1'),
    PORT: z.string().default('8080'),
    DATA_DIR: z.string().default('.data'),
    /** The key to use; `npm start` keeps the demo key in DATA_DIR. */
    DEMO_API_KEY: z.string().optional(),
    /** The slug of the organization to work in. */
    DEMO_ORGANIZATION: z.string().default('demo'),
  })
  .parse(process.env)

const baseUrl = `http://${config.HOST}:${config.PORT}/v2`
const forms = `/organizations/${config.DEMO_ORGANIZATION}/forms`

try {
  await walk(config.DEMO_API_KEY ?? keptKey())
} catch (error) {
  process.stderr.write(`npm run demo: ${(error as Error).message}\n`)
  process.exitCode = 1
}

async function walk(apiKey: string) {
  const call = (method: string, path: string, body?: object) => request(apiKey, method, path, body)

  say('Create a form')
  const created = await call('POST', forms, {
    form: {
      name: 'Customer feedback',
      steps: [
        { type: 'start', key: 'hello', title: 'How was your visit?', buttonText: 'Tell us' },
        { type: 'rating', key: 'stars', title: 'Your rating', max: 5 },
        { type: 'end', key: 'thanks', title: 'Thank you' },
      ],
    },
  })
  const form = `${forms}/${created.publicId}`

  say('Check an edit without making it')
  await call('PATCH', form, { form: { name: 'How was it?' }, validateOnly: true })

  say('Make the edit: only what the patch names changes')
  await call('PATCH', form, { form: { name: 'How was it?', theme: { primaryColor: '#0f766e' } } })

  say('Publish the draft')
  await call('POST', `${form}/publish`, { requestId: crypto.randomUUID() })

  say('Read the live revision')
  await call('GET', `${form}/revisions/live`)

  say('List the forms by name')
  await call('GET', `${forms}?pageSize=3&filter=${encodeURIComponent('name = "How*"')}&orderBy=name`)

  say('Delete the form')
  await call('DELETE', form)
  process.stdout.write('\nDone: create, edit, publish, read, list and delete all worked.\n')
}

async function request(apiKey: string, method: string, path: string, body?: object) {
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  }).catch((cause) => {
    throw new Error(`Nothing answers at ${baseUrl}. Run npm start in another terminal first.`, { cause })
  })
  const answer = (await response.json()) as Answer
  process.stdout.write(`${method} ${decodeURIComponent(path)}\n  ${response.status} ${shown(answer)}\n`)
  if (!response.ok) throw new Error(answer.error?.message ?? `${method} ${path} answered ${response.status}`)
  return answer
}

/** A resource, a page of them, or an error. */
type Answer = Record<string, unknown> & { publicId?: string; error?: { message: string } }

/** The members that tell the story; a whole form fills a screen. */
function shown(answer: Answer): string {
  const { path, name, publicId, live, updateTime, alternateIds, totalSize, forms, form, error } = answer
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

function say(text: string) {
  process.stdout.write(`\n# ${text}\n`)
}

function keptKey(): string {
  const file = join(config.DATA_DIR, 'demo-api-key')
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new Error(`No demo key in ${file}. Run npm start first, or set DEMO_API_KEY.`, { cause })
  }
}
