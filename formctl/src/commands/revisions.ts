import type { FormPath } from '@fms/contracts'
import { addSizes, type FormsStore, noRevisions, type PruneRule, type RevisionsSize } from '@fms/forms-store'
import { Interruption } from '../bulk/interruption.ts'
import { type Command, yesOption } from '../cli/command.ts'
import { parseDuration, parseWholeFrom } from '../cli/option-values.ts'
import { counted, printOutcome } from '../cli/outcome.ts'
import { findOptionalOrganizationId, withForms } from '../stores/open-stores.ts'

export const addRevisionsCommands = (formctl: Command): void => {
  const revisions = formctl.command('revisions').description('delete old revisions of forms')
  revisions
    .command('prune')
    .description(
      'delete the oldest revisions of each form, while services run; never the live one, a later one, or one of the last day',
    )
    .requiredOption(
      '--keep <number>',
      'how many of the newest revisions of each form stay',
      parseWholeFrom(1),
    )
    .option('--older-than <duration>', 'only revisions at least this old, such as 90d', parseDuration, 0)
    .option('--organization <ref>', 'id or slug (default: all organizations)')
    .option('--dry-run', 'delete nothing, and print what would be deleted')
    .option(...yesOption)
    .action(prune)
    .examples(
      'revisions prune --keep 100 --dry-run',
      'revisions prune --keep 100 --older-than 90d --organization acme --yes',
    )
}

interface PruneCommandOptions {
  keep: number
  olderThan: number
  organization?: string
  dryRun?: boolean
}

async function prune(this: Command) {
  const { keep, olderThan, organization, dryRun = false } = this.opts<PruneCommandOptions>()
  const organizationId = await findOptionalOrganizationId(organization)
  const before = new Date(Date.now() - olderThan)
  const age = olderThan > 0 ? ` from before ${before.toISOString()}` : ''
  const scope = `${organization ?? 'all organizations'}${age}`
  const prompt = `Permanently delete all revisions of ${scope}, except for the ${keep} newest of each form?`
  if (!dryRun) await this.confirm(prompt)
  const pruned = await withForms((store) => pruneForms(store, { keep, before, dryRun, organizationId }))
  printOutcome(this, { json: { dryRun, ...pruned }, text: summaryOf(pruned, dryRun) })
}

const summaryOf = ({ forms, revisions, bytes }: PrunedForms, dryRun: boolean): string =>
  `${dryRun ? 'Would delete' : 'Deleted'} ${counted(revisions, 'revision')} of ${counted(forms, 'form')} (${bytes} bytes).`

interface PrunedForms extends RevisionsSize {
  /** The number of forms with such revisions. */
  forms: number
}

interface PruneOptions extends PruneRule {
  /** undefined for all organizations. */
  organizationId: string | undefined
  dryRun: boolean
}

/** Prunes one form after another. Forms that are created meanwhile may be left out. @throws {Error} if interrupted. */
const pruneForms = async (store: FormsStore, options: PruneOptions): Promise<PrunedForms> => {
  using interruption = new Interruption()
  let result: PrunedForms = { forms: 0, ...noRevisions }
  for await (const form of interruption.until(candidates(store, options))) {
    const size = options.dryRun
      ? await store.revisionGrowth.prunable(form, options)
      : await pruneForm(store, form, options, interruption.signal)
    if (size.revisions > 0) result = { forms: result.forms + 1, ...addSizes(result, size) }
  }
  interruption.check(
    options.dryRun
      ? 'Nothing was deleted.'
      : `${result.revisions} revisions are deleted. Repeat the command to delete the rest.`,
  )
  return result
}

async function* candidates(
  store: FormsStore,
  { organizationId, keep }: PruneOptions,
): AsyncGenerator<FormPath> {
  if (organizationId !== undefined) {
    yield* store.revisionGrowth.formsToPrune(organizationId, keep)
    return
  }
  for await (const organization of store.organizations()) {
    yield* store.revisionGrowth.formsToPrune(organization.organizationId, keep)
  }
}

const pruneForm = async (
  store: FormsStore,
  form: FormPath,
  rule: PruneRule,
  signal: AbortSignal,
): Promise<RevisionsSize> => {
  let total = noRevisions
  while (!signal.aborted) {
    const batch = await store.revisionGrowth.prune(form, rule)
    if (batch.revisions === 0) return total
    total = addSizes(total, batch)
    // Signals arrive between two iterations of the event loop, and SQLite needs none for a batch.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return total
}
