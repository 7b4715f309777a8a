import { type Command, InvalidArgumentError } from 'commander'
import { confirm, yesOption } from '../cli/confirm.ts'
import { addExamples } from '../cli/examples.ts'
import { parseDuration } from '../cli/option-values.ts'
import { printOutcome } from '../cli/outcome.ts'
import { type PrunedForms, pruneForms } from '../revisions/prune-forms.ts'
import { withStoreName } from '../stores/named-store.ts'
import { openForms } from '../stores/open-stores.ts'
import { findOptionalOrganizationId } from '../stores/organization-id.ts'
import { namedStores } from '../stores/store-urls.ts'

export const addRevisionsCommands = (formctl: Command): void => {
  const revisions = formctl.command('revisions').description('delete old revisions of forms')
  addPruneCommand(revisions)
}

interface PruneCommandOptions {
  keep: number
  olderThan: number
  organization?: string
  dryRun?: boolean
}

interface PromptParts {
  keep: number
  /** Only revisions from before this time; false for all. */
  before: Date | false
  organization: string | undefined
}

const addPruneCommand = (revisions: Command): void => {
  const command = revisions
    .command('prune')
    .description(
      'delete the oldest revisions of each form, while services run; never the live one, a later one, or one of the last day',
    )
    .requiredOption('--keep <number>', 'how many of the newest revisions of each form stay', parseKeep)
    .option('--older-than <duration>', 'only revisions at least this old, such as 90d', parseDuration, 0)
    .option('--organization <ref>', 'id or slug (default: all organizations)')
    .option('--dry-run', 'delete nothing, and print what would be deleted')
    .option(...yesOption)
    .action(async function (this: Command) {
      const { keep, olderThan, organization, dryRun = false } = this.opts<PruneCommandOptions>()
      const organizationId = await findOptionalOrganizationId(organization)
      const before = new Date(Date.now() - olderThan)
      if (!dryRun) await confirm(this, promptOf({ keep, before: olderThan > 0 && before, organization }))
      await using store = await openForms()
      const scope = organizationId === undefined ? {} : { organizationId }
      const pruned = await withStoreName(namedStores(process.env).forms, () =>
        pruneForms(store, { keep, before, dryRun, ...scope }),
      )
      printOutcome(this, { json: { dryRun, ...pruned }, text: summaryOf(pruned, dryRun) })
    })
  addExamples(
    command,
    'revisions prune --keep 100 --dry-run',
    'revisions prune --keep 100 --older-than 90d --organization acme --yes',
  )
}

const promptOf = ({ keep, before, organization = 'all organizations' }: PromptParts): string => {
  const age = before ? ` from before ${before.toISOString()}` : ''
  return `Permanently delete all revisions of ${organization}${age}, except for the ${keep} newest of each form?`
}

const summaryOf = ({ forms, revisions, bytes }: PrunedForms, dryRun: boolean): string =>
  `${dryRun ? 'Would delete' : 'Deleted'} ${revisions} revisions of ${forms} forms (${bytes} bytes).`

const parseKeep = (text: string): number => {
  const keep = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(keep) && keep > 0) return keep
  throw new InvalidArgumentError('It must be a whole number, 1 or more.')
}
