import { setTimeout as delay } from 'node:timers/promises'
import { ApiError, type CheckedFilter, readFilter } from '@fms/aip'
import { type FormEvent, parseSequence, Uuid } from '@fms/contracts'
import { organizationNotFound } from '@fms/directory-store'
import { assertReached, type EventLog, eventFilterFields, matchesEvent } from '@fms/forms-store'
import { InvalidArgumentError } from 'commander'
import { Interruption } from '../bulk/interruption.ts'
import type { Command } from '../cli/command.ts'
import { parseWholeFrom } from '../cli/option-values.ts'
import { withoutControlCharacters } from '../cli/terminal.ts'
import { readEvents } from '../events/event-log.ts'
import { openDirectory, withForms } from '../stores/open-stores.ts'

export const addEventsCommands = (formctl: Command): void => {
  const events = formctl.command('events').description('read the log of changes of an organization')
  const eventsCommand = (name: string, description: string, afterHelp: string) =>
    events
      .command(name)
      .description(description)
      .requiredOption('--organization <ref>', 'id or slug; for a deleted organization its id')
      .option('--after <sequence>', afterHelp, parseWholeFrom(0))
      .option('--filter <filter>', 'fields: type, form, user, time, as in the API', parseFilterOption)
  eventsCommand('list', 'print events, the oldest first', 'only events after this sequence (default: all)')
    .action(listEvents)
    .examples('events list --organization acme', 'events list --organization acme --after 0 --json')
  eventsCommand(
    'tail',
    'print events as they are recorded, until Ctrl-C',
    'begin after this sequence (default: the last one)',
  )
    .action(tailEvents)
    .examples('events tail --organization acme', 'events tail --organization acme --after 0 --json')
}

/** Parses a filter (AIP-160). @returns it in an object, since Commander treats undefined as no value. */
const parseFilterOption = (text: string): { checked?: CheckedFilter } => {
  try {
    const checked = readFilter(text, eventFilterFields)
    return checked ? { checked } : {}
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new InvalidArgumentError(error.message)
  }
}

function listEvents(this: Command) {
  return printEvents(this, async (log, organizationId, after) => {
    const first = after === undefined ? (await log.range(organizationId)).oldestSequence : after + 1
    return readEvents(log, organizationId, first)
  })
}

async function tailEvents(this: Command) {
  using interruption = new Interruption()
  await printEvents(this, async (log, organizationId, after) => {
    const start = after ?? (await log.range(organizationId)).lastSequence
    // The command may print nothing for long.
    const waiting = `Waiting for events of ${this.opts<EventsOptions>().organization} after ${start}.\n`
    if (this.terminal.isOutputTty) this.terminal.printError(waiting)
    return followEvents(log, organizationId, start + 1, interruption.signal)
  })
}

interface EventsOptions {
  organization: string
  after?: number
  filter?: { checked?: CheckedFilter }
}

type ReadLog = (
  log: EventLog,
  organizationId: string,
  after: number | undefined,
) => Promise<AsyncIterable<FormEvent>>

const printEvents = async (command: Command, read: ReadLog): Promise<void> => {
  const { organization, after, filter } = command.opts<EventsOptions>()
  const print = eventPrinter(command)
  await withForms(async (store) => {
    const organizationId = await organizationIdOf(organization, store.events)
    if (after !== undefined) assertReached(after, await store.events.range(organizationId))
    for await (const event of await read(store.events, organizationId, after)) {
      if (matchesEvent(filter?.checked, event)) await print(event)
    }
  })
}

/** @returns also the id of a deleted organization that still has a log. @throws {ApiError} ORGANIZATION_NOT_FOUND */
const organizationIdOf = async (ref: string, log: EventLog): Promise<string> => {
  await using directory = await openDirectory()
  const organization = await directory.findOrganization(ref)
  if (organization) return organization.organizationId
  const { success, data: id } = Uuid.safeParse(ref)
  if (success && (await log.range(id)).lastSequence > 0) return id
  throw organizationNotFound(ref)
}

/** Prints events one after another: a line for people on a terminal; elsewhere, or with `--json`, a line of JSON. */
const eventPrinter = (command: Command) => {
  const { terminal, wantsJson } = command
  const forPeople = terminal.isOutputTty && !wantsJson
  return (event: FormEvent) => terminal.print(`${forPeople ? lineOf(event) : JSON.stringify(event)}\n`)
}

/** Sequence, time, type, public id, actor and name. */
const lineOf = ({ sequence, time, type, data: { publicId, name, actor } }: FormEvent): string =>
  withoutControlCharacters(
    [Number(sequence), time, type.padEnd('form.unpublished'.length), publicId, actorOf(actor), name].join(
      '  ',
    ),
  )

const actorOf = (actor: FormEvent['data']['actor']): string => {
  if ('operator' in actor) return 'operator'
  return actor.key ? `${actor.user} (fms_${actor.key.prefix}…)` : actor.user
}

/** Interval at which a log is read for new events, in milliseconds. */
const intervalMs = 1_000

/**
 * Reads a log, then each new event within about a second, until the signal aborts. @throws {Error} as {@link readEvents}.
 */
async function* followEvents(
  log: EventLog,
  organizationId: string,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<FormEvent> {
  for (let next = from; !signal.aborted; ) {
    for await (const event of readEvents(log, organizationId, next)) {
      if (signal.aborted) return
      yield event
      next = parseSequence(event.sequence) + 1
    }
    await delay(intervalMs, undefined, { signal }).catch(() => {})
  }
}
