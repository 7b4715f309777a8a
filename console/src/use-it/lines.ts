/** Where a form is, in the words of the API. */
export interface FormAddress {
  baseUrl: string
  /** The slug or id of the organization. */
  organization: string
  /** The `publicId` of the form. */
  form: string
}

/** Lines that change nothing, and lines that change and publish the form. Each can be copied alone. */
export interface Lines {
  read: string
  change: string
}

export const curlLines = ({ baseUrl, organization, form }: FormAddress): Lines => {
  const variables = `export API_KEY=fms_…
FORM=${baseUrl}/organizations/${organization}/forms/${form}`
  return {
    read: `${variables}

# The draft, what respondents see, and what differs
curl -H "x-api-key: $API_KEY" "$FORM"
curl -H "x-api-key: $API_KEY" "$FORM/revisions/live"
curl -H "x-api-key: $API_KEY" "$FORM/changes"`,
    change: `${variables}

curl -X PATCH -H "x-api-key: $API_KEY" -H 'content-type: application/json' \\
  -d '{"form": {"tone": "friendly"}}' "$FORM"
curl -X POST -H "x-api-key: $API_KEY" "$FORM/publish"`,
  }
}

export const programLines = ({ baseUrl, organization, form }: FormAddress): Lines => {
  const client = `import { createClient } from '@fms/client'

const client = createClient({ baseUrl: '${baseUrl}', apiKey: process.env.API_KEY! })`
  return {
    read: `${client}
const { form: draft } = await client.forms.get('${organization}', '${form}')
const { form: live } = await client.revisions.live('${organization}', '${form}')`,
    change: `${client}
await client.forms.update('${organization}', '${form}', { tone: 'friendly' })
const { form } = await client.forms.publish('${organization}', '${form}')`,
  }
}

export const formctlLines = ({ baseUrl, organization, form }: FormAddress): Lines => {
  const variables = `export FORMS_API_URL=${baseUrl} FORMS_API_KEY=fms_…`
  const command = (name: string) =>
    `${variables}
npm run -s formctl -- forms ${name} --organization ${organization} --form ${form}`
  return { read: command('changes'), change: command('publish') }
}
