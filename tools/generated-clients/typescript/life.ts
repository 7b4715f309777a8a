import createClient from 'openapi-fetch'
import type { components, paths } from './schema.ts'

// The life of one form: create, patch with ETag, publish, list all, delete. Prints what came of it as JSON.
type Form = components['schemas']['Form']

const { BASE_URL, API_KEY, ORGANIZATION } = process.env as Record<string, string>
const client = createClient<paths>({ baseUrl: BASE_URL!, headers: { 'x-api-key': API_KEY! } })
const organizationRef = ORGANIZATION!

const created = await client.POST('/organizations/{organizationRef}/forms', {
  params: { path: { organizationRef } },
  body: {
    form: {
      name: 'Generated',
      steps: [
        { type: 'start', key: 'hello', title: 'How was it?' },
        { type: 'rating', key: 'stars', max: 5 },
      ],
      theme: { buttonRadiusPx: 4.5 },
    },
  },
})
if (!created.data) throw new Error(created.error.error.message)
const etag = created.response.headers.get('etag')!
const path = { organizationRef, formRef: created.data.publicId }

const patch = () =>
  client.PATCH('/organizations/{organizationRef}/forms/{formRef}', {
    params: { path, header: { 'if-match': etag } },
    body: { form: { description: 'Patched', theme: { primaryColor: null } } },
  })
const patched = await patch()
const stale = await patch()

const published = await client.POST('/organizations/{organizationRef}/forms/{formRef}/publish', {
  params: { path },
  body: { requestId: crypto.randomUUID() },
})

const forms: Form[] = []
let pageToken = ''
do {
  const page = await client.GET('/organizations/{organizationRef}/forms', {
    params: { path: { organizationRef }, query: { pageSize: 2, orderBy: 'createTime', pageToken } },
  })
  if (!page.data) throw new Error(page.error.error.message)
  forms.push(...page.data.forms)
  pageToken = page.data.nextPageToken
} while (pageToken !== '')

const deleted = await client.DELETE('/organizations/{organizationRef}/forms/{formRef}', { params: { path } })

process.stdout.write(
  JSON.stringify({
    buttonRadiusPx: created.data.theme.buttonRadiusPx,
    patched: patched.data?.description,
    stale: stale.response.status,
    live: published.data?.live,
    names: forms.map(({ name }) => name),
    deleted: deleted.response.status,
  }),
)
