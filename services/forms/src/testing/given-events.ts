import { type FormEvent, parseSequence } from '@fms/contracts'
import type { FormsService } from './start-forms.ts'

/** Creates forms, one minute apart, and thereby one event each. @returns their ids. */
export const givenEvents = async ({ given, clock }: FormsService, count: number): Promise<string[]> => {
  const ids: string[] = []
  for (let index = 0; index < count; index++) {
    ids.push((await given.form({ name: `Form ${index + 1}` })).formId)
    clock.now = new Date(clock.now.getTime() + 60_000)
  }
  return ids
}

/** Removes the oldest events, as retention does. @param sequence of the last event to remove. */
export const pruneTo = async ({ forms: { events }, organizationId }: FormsService, sequence: number) => {
  const [next] = await events.read({ organizationId, from: sequence + 1, limit: 1 })
  const { lastSequence } = await events.range(organizationId)
  await events.markStreamed(organizationId, lastSequence)
  while ((await events.prune(new Date(next!.time), 100)) > 0);
}

export const sequencesOf = (events: FormEvent[]): number[] =>
  events.map(({ sequence }) => parseSequence(sequence))
