import { CopyButton } from '../elements/copy-button.tsx'
import { Page } from '../elements/page.tsx'
import { baseUrl } from '../session/session.ts'
import { texts } from '../texts.ts'

/** Lines for a terminal and for programs, for the form at hand. The key is a variable: no line shows a secret. */
export const UseItPage = ({ organization, form }: { organization: string; form: string }) => (
  <Page title={texts.useIt.title}>
    <p>{texts.useIt.explanation}</p>
    {[
      { name: texts.useIt.curl, code: curl(organization, form) },
      { name: texts.useIt.client, code: program(organization, form) },
      { name: texts.useIt.formctl, code: formctl(organization, form) },
    ].map(({ name, code }) => (
      <CodeBlock key={name} name={name} code={code} />
    ))}
  </Page>
)

const curl = (organization: string, form: string) =>
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

const program = (organization: string, form: string) =>
  `import { createClient } from '@fms/client'

const client = createClient({ baseUrl: '${baseUrl}', apiKey: process.env.API_KEY })
await client.forms.update('${organization}', '${form}', { tone: 'friendly' })
const { form } = await client.forms.publish('${organization}', '${form}')
const { form: live } = await client.revisions.live('${organization}', '${form}')`

const formctl = (organization: string, form: string) =>
  `export FORMS_API_URL=${baseUrl} FORMS_API_KEY=fms_…
npm run -s formctl -- forms changes --organization ${organization} --form ${form}
npm run -s formctl -- forms publish --organization ${organization} --form ${form}`

const CodeBlock = ({ name, code }: { name: string; code: string }) => {
  return (
    <section class="card">
      <div class="title">
        <h2>{name}</h2>
        <CopyButton text={code} label={texts.useIt.copyOf(name)} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the keyboard */}
      <pre tabIndex={0}>{code}</pre>
    </section>
  )
}
