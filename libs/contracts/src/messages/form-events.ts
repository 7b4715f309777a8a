import { z } from 'zod'
import { defineMessage } from './define-message.ts'

/** Event to the relays: events are recorded. At most once, to one publisher; relays look every second, too. */
export const EventsRecorded = defineMessage({ subject: 'events.recorded', schema: z.object({}) })

/** The queue group in which the publishers subscribe to {@link EventsRecorded}. */
export const relayQueue = 'relay'

/** The subjects of all form events; {@link EventsRecorded} is not one of them. */
const allFormEvents = 'events.*.form.*'

/** The stream of form events, their id as `Nats-Msg-Id`: at least once, first deliveries of an organization by `sequence`. */
export const eventsStream = { name: 'EVENTS', subjects: [allFormEvents] } as const

/** Content type of an event in {@link eventsStream} (CloudEvents 1.0, structured mode). */
export const eventContentType = 'application/cloudevents+json'

/** The subject of a form event: `events.{organizationId}.form.{verb}`. @param type such as `form.created`. */
export const eventSubject = (organizationId: string, type: string): string =>
  `events.${organizationId}.${type}`
