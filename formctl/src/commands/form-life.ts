import { readFile } from 'node:fs/promises'
import type {
  ChangeOptions as ClientOptions,
  FormChange,
  FormChanges,
  FormCheck,
  TaggedForm,
} from '@fms/client'
import { type Api, apiMessageOf, withApi } from '../api/api.ts'
import { addChangeOptions, type ChangeOptions, changeForm } from '../api/change-form.ts'
import { type Command, exampleForm } from '../cli/command.ts'
import type { Work } from '../cli/outcome.ts'
import { withoutControlCharacters } from '../cli/terminal.ts'

interface FormOptions extends ChangeOptions {
  organization: string
  form: string
}

/** Adds the commands that work only by the API: a check of files, and those on one form. */
export const addFormLifeCommands = (forms: Command): void => {
  forms
    .command('check')
    .description('check forms in files through the API: whether they can be published, and warnings')
    .argument('<file...>', 'JSON: a form as a read returns it, or the body of a create')
    .requiredOption('--organization <ref>', 'id or slug of an organization of yours; nothing is stored in it')
    .action(withApi(check))
    .examples(`forms check --organization acme "$DATA_DIR/${exampleForm}.json"`)
  const formCommand = (name: string, description: string) =>
    forms
      .command(name)
      .description(description)
      .requiredOption('--organization <ref>', 'id or slug')
      .requiredOption('--form <ref>', 'id or public id')
  const form = `--organization acme --form ${exampleForm}`

  formCommand(
    'changes',
    'compare two states of a form through the API; by default, show what a publish would change',
  )
    .option('--from <ref>', 'id of a revision, live or latest', 'live')
    .option('--to <ref>', 'id of a revision, live, latest or draft', 'draft')
    .action(withApi(compare))
    .examples(`forms changes ${form}`, `forms changes ${form} --from latest --to live --json`)
  addChangeOptions(
    formCommand('publish', 'publish the draft of a form through the API')
      .option('--note <text>', 'what the publish changes, or why; at most 500 characters')
      .option('--refuse-breaking', 'publish nothing if a change orphans answers already given')
      .action(changeAction(['Published', 'publish'], publish)),
  ).examples(
    `forms publish ${form} --validate-only`,
    `forms publish ${form} --note 'New prices' --refuse-breaking`,
  )
  addChangeOptions(
    formCommand('unpublish', 'take a form down through the API; its draft and revisions stay')
      .option('--note <text>', 'why the form is taken down; at most 500 characters')
      .action(changeAction(['Unpublished', 'unpublish'], unpublish)),
  ).examples(`forms unpublish ${form}`, `forms unpublish ${form} --note 'A question is missing'`)
  addChangeOptions(
    formCommand(
      'rollback',
      'make the draft of a form equal to a revision, through the API; nothing is published',
    )
      .requiredOption('--revision <ref>', 'id of a revision, live or latest')
      .action(changeAction(['Rolled back', 'roll back'], rollback)),
  ).examples(
    `forms rollback ${form} --revision live`,
    `forms rollback ${form} --revision live --validate-only`,
  )
}

type CheckedFile = FormCheck & { file: string }

const check: Work<Api, { organization: string }> = async (api, { organization }, files) => {
  const forms: CheckedFile[] = []
  for (const file of files) {
    const found = await api.forms.check(organization, await readForm(file)).catch((cause) => {
      throw new Error(`${file}: ${apiMessageOf(cause)}`, { cause })
    })
    forms.push({ file, ...found })
  }
  return { json: { forms }, text: forms.flatMap(linesOf).map(withoutControlCharacters).join('\n') }
}

/** Reads a form, or the body of a create or an update, which has it in `form`. */
const readForm = async (file: string) => {
  const text = await readFile(file, 'utf8').catch((cause) => {
    throw new Error(`${file} cannot be read. Name a file with one form.`, { cause })
  })
  try {
    const value = JSON.parse(text)
    return value?.form ?? value
  } catch (cause) {
    throw new Error(`${file} is not JSON. Name a file with one form.`, { cause })
  }
}

const linesOf = ({ file, publishable, violations, warnings }: CheckedFile): string[] => [
  `${file} ${publishable ? 'can' : 'cannot'} be published; ${warnings.length} warnings.`,
  ...violations.map(({ subject, description }) => `  error: ${subject} ${description}`),
  ...warnings.map(({ field, message }) => `  warning: ${field} ${message}`),
]

type Send<Options> = (api: Api, options: FormOptions & Options, write: ClientOptions) => Promise<TaggedForm>

const changeAction = <Options>(verb: readonly [past: string, infinitive: string], send: Send<Options>) =>
  withApi<FormOptions & Options>((api, options) =>
    changeForm(api, verb, options, (write) => send(api, options, write)),
  )

const publish: Send<{ note?: string; refuseBreaking?: boolean }> = (api, options, write) => {
  const { organization, form, note, refuseBreaking } = options
  return api.forms.publish(organization, form, { ...write, note, refuseBreaking })
}

const unpublish: Send<{ note?: string }> = (api, { organization, form, note }, write) =>
  api.forms.unpublish(organization, form, { ...write, note })

const rollback: Send<{ revision: string }> = (api, { organization, form, revision }, write) =>
  api.revisions.rollback(organization, form, revision, write)

const compare: Work<Api, FormOptions & { from: string; to: string }> = async (api, options) => {
  const { organization, form, from, to } = options
  const comparison = await api.forms.changes(organization, form, { from, to })
  return {
    json: comparison,
    text: `There are no changes from ${comparison.from} to ${comparison.to}.`,
    table: {
      columns: ['kind', 'field', 'change', 'breaking'],
      rows: comparison.changes.map((change) => [
        change.kind,
        change.field,
        valuesOf(change),
        change.breaking && `! ${change.breaking}`,
      ]),
    },
    footer: footerOf(comparison),
  }
}

/** Characters of a value in the table. */
const maxValueLength = 40

const valuesOf = (change: FormChange): string =>
  [change.before, change.after]
    .filter((value) => value !== undefined)
    .map(shortened)
    .join(' → ')

const shortened = (value: unknown): string => {
  const characters = [...JSON.stringify(value)]
  if (characters.length <= maxValueLength) return characters.join('')
  return `${characters.slice(0, maxValueLength - 1).join('')}…`
}

const footerOf = ({ breakingCount, publishable, violations = [] }: FormChanges): string | undefined => {
  const lines = [
    breakingCount > 0 && `Breaking changes, which orphan answers already given: ${breakingCount}.`,
    publishable === true && 'The draft can be published.',
    publishable === false && 'The draft cannot be published:',
    ...violations.map(
      ({ subject, description }) => `  ${withoutControlCharacters(`${subject} ${description}`)}`,
    ),
  ].filter((line) => line !== false)
  return lines.length > 0 ? lines.join('\n') : undefined
}
