import type { Form } from '@fms/client'
import { CopyButton } from '../elements/copy-button.tsx'
import { Page } from '../elements/page.tsx'
import { headOf } from '../reading/form-head.ts'
import { useLoaded } from '../reading/load.ts'
import { LoadError } from '../reading/load-error.tsx'
import { organizationOf } from '../routing/organization-of.ts'
import { baseUrl, type Session } from '../session/session.ts'
import { texts } from '../texts.ts'
import { curlLines, formctlLines, type Lines, programLines } from './lines.ts'

/**
 * Lines for a terminal and for programs, for the form at hand. The key is a variable: no line shows a secret. The names in
 * them come from the service, never from the URL, which anybody can make up.
 */
export const UseItPage = ({
  session,
  organization,
  form,
}: {
  session: Session
  organization: string
  form: string
}) => {
  const { client } = session
  const { loaded, reload } = useLoaded(async (signal) => {
    const readMask = 'path,publicId,name,live,publicUrl'
    const { form: read } = await client.forms.get(organization, form, { readMask, signal })
    const lines = { baseUrl, organization: slugOf(session, read.path!), form: read.publicId! }
    return { form: read as Partial<Form>, lines }
  })
  const { value } = loaded.value
  return (
    <Page {...headOf(texts.useIt, value?.form)}>
      <p>{texts.useIt.explanation}</p>
      <LoadError loaded={loaded.value} reload={reload} />
      {value &&
        (['read', 'change'] as const).map((kind) => (
          <section key={kind}>
            <h2>{texts.useIt.kinds[kind]}</h2>
            <CodeBlock name={texts.useIt.curl} code={curlLines(value.lines)[kind]} kind={kind} />
            <CodeBlock name={texts.useIt.client} code={programLines(value.lines)[kind]} kind={kind} />
            <CodeBlock name={texts.useIt.formctl} code={formctlLines(value.lines)[kind]} kind={kind} />
          </section>
        ))}
    </Page>
  )
}

/** The slug of the organization of a form; its id if the user has become a member since the session began. */
const slugOf = ({ memberships }: Session, formPath: string): string => {
  const id = organizationOf(formPath)
  return (
    memberships.find(({ organization }) => organizationOf(organization.path) === id)?.organization.slug ?? id
  )
}

const CodeBlock = ({ name, code, kind }: { name: string; code: string; kind: keyof Lines }) => {
  return (
    <div class="card">
      <div class="title">
        <h3>{name}</h3>
        <CopyButton text={code} label={texts.useIt.copyOf[kind](name)} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the keyboard */}
      <pre tabIndex={0}>{code}</pre>
    </div>
  )
}
