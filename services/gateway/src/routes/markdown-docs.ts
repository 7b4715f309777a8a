import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AddRoute } from '@fms/service-kit'
import { createStaticDocument, serveDocument } from './static-document.ts'

const folder = join(import.meta.dirname, '../../../../docs')

/** The pages of `docs/` for whoever writes programs, and what each is about. */
export const markdownPages = {
  'tutorial.md': 'the first form, from the create to the revisions',
  'api.md': 'every rule of the API: defaults, lists, filters, merge patches, events',
  'steps.md': 'the types of steps, their members, and every warning',
  'errors.md': 'every reason of errors, with its cause and what to do; the rules of a publish',
  'glossary.md': 'the words of this documentation',
  'formctl.md': 'the command line',
  'guides/safe-edits.md': 'edits with ETags while others edit',
  'guides/complete-lists.md': 'lists without gaps',
  'guides/publish-from-ci.md': 'forms in a repository',
  'guides/show-a-form.md': 'the live revision for respondents',
  'guides/from-python.md': 'a generated client for Python: errors, retries, ETags, events',
  'guides/from-go.md': 'the same for Go',
  'guides/follow-changes.md': 'events: polls, streams, NATS',
}

/** For programs (https://llmstxt.org). Links are relative, for proxies that add a prefix. */
const llmsText = `# Form management

> A service for forms: drafts, the revisions that publishing makes, and an event for each change. The API is HTTP with JSON.

Every request to the API has a key in the header \`x-api-key\`. The documents below need no key.

## API

- [Essential OpenAPI document](v2/openapi.json?view=essential): how to work with the API, and ten operations; start here
- [OpenAPI document](v2/openapi.json): every operation
- [Reference page](v2/docs): the same for people

## Documentation

${Object.entries(markdownPages)
  .map(([name, about]) => `- [${name}](v2/docs/${name}): ${about}`)
  .join('\n')}
`

const cacheControl = 'public, max-age=300'

/** `llms.txt`, which lists the documentation for programs. */
export const llmsTxt: AddRoute = (app) =>
  serveDocument(app, '/llms.txt', () =>
    createStaticDocument('text/plain; charset=utf-8', cacheControl, llmsText),
  )

/** The pages as Markdown. */
export const markdownDocs: AddRoute = (app) => {
  for (const name of Object.keys(markdownPages)) serveDocument(app, `/docs/${name}`, () => readPage(name))
}

const readPage = async (name: string) =>
  createStaticDocument('text/markdown; charset=utf-8', cacheControl, await readFile(join(folder, name)))
