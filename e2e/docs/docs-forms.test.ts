import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { type JsonObject, mergePatch } from '@fms/aip'
import { FormDraft } from '@fms/contracts'
import { warningsOf } from '@fms/drafts'
import { describe, expect, it } from 'vitest'
import { examples as consoleExamples } from '../../console/src/forms-list/examples.ts'
import { examples, form } from '../../services/gateway/src/openapi/examples.ts'

const root = join(import.meta.dirname, '../..')

/** What a form has that is about a warning or a violation, and the reason of each warning that it causes. */
const intended: [word: string, reasons: string[]][] = [
  ['ratign', ['TYPE_UNKNOWN']],
  ['nowhere', ['BRANCH_TARGET_MISSING']],
  ["key: 'size'", ['MEMBER_MISSING', 'MEMBER_MISSING', 'END_MISSING']],
]

/** The lists of steps in the code of a page. One that continues the steps of a form has those of the example. */
const stepsIn = (page: string): [string, unknown[]][] => {
  const code = [...page.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, block]) => block).join('')
  return [...code.matchAll(/\bsteps"?: \[/g)].map(({ index }) => {
    const list = listAt(code, code.indexOf('[', index))
    return [list, runInNewContext(list, { steps: form.steps })]
  })
}

/** The list that begins at a place. No text in the examples has a bracket. */
const listAt = (code: string, start: number): string => {
  let depth = 0
  for (let end = start; end < code.length; end++) {
    if (code[end] === '[') depth++
    if (code[end] === ']') depth--
    if (depth === 0) return code.slice(start, end + 1)
  }
  throw new Error(`No list at ${code.slice(start, start + 40)}`)
}

const reasonsOf = (fields: object) => warningsOf(FormDraft.parse(fields)).map(({ reason }) => reason)
const intendedIn = (text: string) => intended.find(([word]) => text.includes(word))?.[1] ?? []

const pages = globSync(['README.md', 'docs/**/*.md', 'libs/client/README.md'], { cwd: root })
  .map((name) => [name, stepsIn(readFileSync(join(root, name), 'utf8'))] as const)
  .filter(([, lists]) => lists.length > 0)

describe('the forms of examples', () => {
  it.each(pages)('in %s cause no warning, unless the text is about it', (_, lists) => {
    for (const [text, steps] of lists) expect(reasonsOf({ steps }), text).toEqual(intendedIn(text))
  })

  it('are found in the README, the reference, the tutorial, a guide and the README of the client', () => {
    const names = ['README.md', 'docs/api.md', 'docs/guides/publish-from-ci.md', 'docs/tutorial.md']
    expect(pages.map(([name]) => name)).toEqual(expect.arrayContaining([...names, 'libs/client/README.md']))
  })

  it.each(['createForm', 'updateForm', 'checkForm'] as const)(
    'of %s in the OpenAPI document do so, too',
    (id) => {
      const requests = Object.entries(examples[id].request!) as [string, { form: JsonObject }][]
      const current = { steps: form.steps } as unknown as JsonObject
      expect(requests).not.toEqual([])
      for (const [name, request] of requests) {
        const fields = id === 'updateForm' ? mergePatch(current, request.form) : request.form
        expect(reasonsOf(Object(fields)), name).toEqual(intendedIn(JSON.stringify(fields)))
      }
    },
  )

  it.each(consoleExamples)('in the console do so, too: $id', ({ form: fields }) => {
    expect(reasonsOf(fields)).toEqual([])
  })
})
