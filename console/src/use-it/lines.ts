/** Where a form is, in the words of the API. */
export interface FormAddress {
  baseUrl: string
  /** The slug or id of the organization. */
  organization: string
  /** The `publicId` of the form. */
  form: string
}

/** Commands of curl. */
export const curlLines = ({ baseUrl, organization, form }: FormAddress): string =>
  `export API_KEY=fms_…
FORM=${baseUrl}/organizations/${organization}/forms/${form}

# The draft, and what respondents see
curl -H "x-api-key: $API_KEY" "$FORM"
curl -H "x-api-key: $API_KEY" "$FORM/revisions/live"

# Change the draft, compare it with the live revision, publish it
curl -X PATCH -H "x-api-key: $API_KEY" -H 'content-type: application/json' \\
  -d '{"form": {"tone": "friendly"}}' "$FORM"
curl -H "x-api-key: $API_KEY" "$FORM/changes"
curl -X POST -H "x-api-key: $API_KEY" "$FORM/publish"`

/** A program in TypeScript. */
export const programLines = ({ baseUrl, organization, form }: FormAddress): string =>
  `import { createClient } from '@fms/client'

const client = createClient({ baseUrl: '${baseUrl}', apiKey: process.env.API_KEY! })
await client.forms.update('${organization}', '${form}', { tone: 'friendly' })
const { form } = await client.forms.publish('${organization}', '${form}')
const { form: live } = await client.revisions.live('${organization}', '${form}')`

/** Commands of formctl. */
export const formctlLines = ({ baseUrl, organization, form }: FormAddress): string =>
  `export FORMS_API_URL=${baseUrl} FORMS_API_KEY=fms_…
npm run -s formctl -- forms changes --organization ${organization} --form ${form}
npm run -s formctl -- forms publish --organization ${organization} --form ${form}`
