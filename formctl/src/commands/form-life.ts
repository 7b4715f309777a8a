import type { Client, ChangeOptions as ClientOptions, FormChange, FormChanges, TaggedForm } from '@fms/client'
import type { Command } from 'commander'
import { withApi } from '../api/api.ts'
import { addChangeOptions, type ChangeOptions, changeForm } from '../api/change-form.ts'
import { addExamples, exampleForm } from '../cli/examples.ts'
import type { Outcome } from '../cli/outcome.ts'
import { withoutControlCharacters } from '../cli/outcome.ts'

/** Options of every command on one form. */
interface FormOptions extends ChangeOptions {
  organization: string
  form: string
}

/** Adds the commands on one form, which work only by the API. */
export const addFormLifeCommands = (forms: Command): void => {
  addChangesCommand(forms)
  addPublishCommand(forms)
  addUnpublishCommand(forms)
  addRollbackCommand(forms)
}

/** Creates a command on one form. */
const formCommand = (forms: Command, name: string): Command =>
  forms
    .command(name)
    .requiredOption('--organization <ref>', 'id or slug')
    .requiredOption('--form <ref>', 'id or public id')

const addChangesCommand = (forms: Command): void => {
  const command = formCommand(forms, 'changes')
    .description('compare two states of a form through the API; by default, show what a publish would change')
    .option('--from <ref>', 'id of a revision, live or latest', 'live')
    .option('--to <ref>', 'id of a revision, live, latest or draft', 'draft')
    .action(
      withApi<FormOptions & { from: string; to: string }>(async (api, { organization, form, from, to }) =>
        changesOutcome(await api.forms.changes(organization, form, { from, to })),
      ),
    )
  const example = `forms changes --organization acme --form ${exampleForm}`
  addExamples(command, example, `${example} --from latest --to live --json`)
}

/** Makes the action of a command that changes a form. */
const changeAction = <Options extends FormOptions>(
  verb: readonly [past: string, infinitive: string],
  send: (client: Client, options: Options, write: ClientOptions) => Promise<TaggedForm>,
) => withApi<Options>((api, options) => changeForm(api, verb, options, (write) => send(api, options, write)))

const addPublishCommand = (forms: Command): void => {
  const command = formCommand(forms, 'publish')
    .description('publish the draft of a form through the API')
    .option('--note <text>', 'what the publish changes, or why; at most 500 characters')
    .option('--refuse-breaking', 'publish nothing if a change orphans answers already given')
    .action(
      changeAction<FormOptions & { note?: string; refuseBreaking?: boolean }>(
        ['Published', 'publish'],
        (client, { organization, form, note, refuseBreaking }, write) =>
          client.forms.publish(organization, form, { ...write, note, refuseBreaking }),
      ),
    )
  addChangeOptions(command)
  const example = `forms publish --organization acme --form ${exampleForm}`
  addExamples(command, `${example} --validate-only`, `${example} --note 'New prices' --refuse-breaking`)
}

const addUnpublishCommand = (forms: Command): void => {
  const command = formCommand(forms, 'unpublish')
    .description('take a form down through the API; its draft and revisions stay')
    .option('--note <text>', 'why the form is taken down; at most 500 characters')
    .action(
      changeAction<FormOptions & { note?: string }>(
        ['Unpublished', 'unpublish'],
        (client, { organization, form, note }, write) =>
          client.forms.unpublish(organization, form, { ...write, note }),
      ),
    )
  addChangeOptions(command)
  const example = `forms unpublish --organization acme --form ${exampleForm}`
  addExamples(command, example, `${example} --note 'A question is missing'`)
}

const addRollbackCommand = (forms: Command): void => {
  const command = formCommand(forms, 'rollback')
    .description('make the draft of a form equal to a revision, through the API; nothing is published')
    .requiredOption('--revision <ref>', 'id of a revision, live or latest')
    .action(
      changeAction<FormOptions & { revision: string }>(
        ['Rolled back', 'roll back'],
        (client, { organization, form, revision }, write) =>
          client.revisions.rollback(organization, form, revision, write),
      ),
    )
  addChangeOptions(command)
  const example = `forms rollback --organization acme --form ${exampleForm} --revision live`
  addExamples(command, example, `${example} --validate-only`)
}

/** Characters of a value in the table. */
const maxValueLength = 40

const changesOutcome = (comparison: FormChanges): Outcome => ({
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
  ...footerOf(comparison),
})

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

const footerOf = ({ breakingCount, publishable, violations = [] }: FormChanges): Pick<Outcome, 'footer'> => {
  const lines = [
    breakingCount > 0 && `Breaking changes, which orphan answers already given: ${breakingCount}.`,
    publishable === true && 'The draft can be published.',
    publishable === false && 'The draft cannot be published:',
    ...violations.map(
      ({ subject, description }) => `  ${withoutControlCharacters(`${subject} ${description}`)}`,
    ),
  ].filter((line) => line !== false)
  return lines.length > 0 ? { footer: lines.join('\n') } : {}
}
