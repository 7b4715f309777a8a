import { z } from 'zod'
import { defineMessage } from './define-message.ts'

/**
 * Event from a service to the relays: it has recorded events, which are not in the stream yet.
 *
 * Delivery: at most once, to one of the publishers. Without it, a relay finds the events within a second.
 */
export const EventsRecorded = defineMessage({ subject: 'events.recorded', schema: z.object({}) })

/** The queue group in which the publishers subscribe to {@link EventsRecorded}. */
export const relayQueue = 'relay'

/** The subjects of all form events; {@link EventsRecorded} is not one of them. */
const allFormEvents = 'events.*.form.*'

/**
 * The stream of form events, each with the JSON of a `FormEvent` and its id as `Nats-Msg-Id`. At least once; first
 * deliveries are in the order of `sequence` for each organization.
 */
export const eventsStream = { name: 'EVENTS', subjects: [allFormEvents] } as const

/** Content type of an event in {@link eventsStream} (CloudEvents 1.0, structured mode). */
export const eventContentType = 'application/cloudevents+json'

/** The subject of a form event: `events.{organizationId}.form.{verb}`. @param type such as `form.created`. */
export const eventSubject = (organizationId: string, type: string): string =>
  `events.${organizationId}.${type}`
