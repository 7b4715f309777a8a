import {
  clockInboxOf,
  deadLetterReasonHeader,
  deadLetterStream,
  deadlineHeader,
  EventsRecorded,
  eventContentType,
  eventSubject,
  eventTypes,
  FormEvent,
  FormPublished,
  GatewayClock,
  PublishForm,
  publishProbeSubject,
  ReplyRecorded,
  RequestsCounted,
  relayQueue,
  replyInboxHeader,
  requestIdHeader,
} from '@fms/contracts'
import { event } from '../../services/gateway/src/openapi/examples.ts'
import { componentSchemas, refTo } from './payload-schemas.ts'

/** Payloads by the name of their component. Every contract of a message is one of them. */
export const payloads = {
  Event: FormEvent,
  EventsRecorded: EventsRecorded.schema,
  FormPublished: FormPublished.schema,
  GatewayClock: GatewayClock.schema,
  PublishForm: PublishForm.schema,
  ReplyRecorded: ReplyRecorded.schema,
  RequestsCounted: RequestsCounted.schema,
} as const

const json = 'application/json'
const text = { type: 'string' }

/** Headers that only some messages have. */
const headers = (properties: Record<string, object>, required: string[] = []) => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
})

const requestId = { [requestIdHeader]: { ...text, description: 'The id of the HTTP request, for logs.' } }

const messages = {
  formEvent: {
    summary: 'A change of a form: CloudEvents 1.0 in structured mode, with the `sequence` extension.',
    description:
      'Stream EVENTS. At least once; first deliveries are in the order of `sequence` for each organization. Keep the highest sequence that you have handled for each organization, and drop repeats.',
    contentType: eventContentType,
    headers: headers(
      {
        'Nats-Msg-Id': { ...text, description: 'The id of the event.' },
        'Content-Type': { const: eventContentType },
      },
      ['Nats-Msg-Id', 'Content-Type'],
    ),
    payload: refTo('Event'),
    examples: [
      {
        headers: { 'Nats-Msg-Id': event.id, 'Content-Type': eventContentType },
        payload: event,
      },
    ],
  },
  eventsRecorded: {
    summary: 'An organization has events that are not in the stream EVENTS yet.',
    description:
      'At most once, to one of the publishers. Without it, a relay finds the events within a second.',
    contentType: json,
    payload: refTo('EventsRecorded'),
  },
  publishForm: {
    summary: 'Command: freezes the draft as a revision and makes the revision live.',
    description:
      'Stream PUBLISH. At least once; a redelivery with the same `commandId` changes nothing and gets the same reply.',
    contentType: json,
    headers: headers(
      {
        [replyInboxHeader]: { ...text, description: 'The inbox for the reply.' },
        [deadlineHeader]: {
          ...text,
          description: 'Deadline in milliseconds of the monotonic clock of the gateway.',
        },
        ...requestId,
      },
      [replyInboxHeader, deadlineHeader],
    ),
    payload: refTo('PublishForm'),
  },
  formPublished: {
    summary: 'Reply to the command: published, or refused with the error.',
    description:
      'The payload is this JSON on one line. If the form was published, a second line follows with the form as JSON, which is the body of the HTTP response.',
    contentType: 'text/plain',
    payload: refTo('FormPublished'),
  },
  publishProbe: {
    summary: 'Empty. A publisher checks with it that the stream PUBLISH stores commands.',
  },
  deadLetter: {
    summary: 'A command that can never succeed, with the reason in a header. Stream PUBLISH_DEAD.',
    contentType: json,
    headers: headers({ [deadLetterReasonHeader]: text, ...requestId }, [deadLetterReasonHeader]),
    payload: refTo('PublishForm'),
  },
  clockRequest: { summary: 'Empty: a publisher requests the time of the gateway that has sent a command.' },
  gatewayClock: {
    summary: 'The monotonic time of a gateway, which the deadline of its commands refers to.',
    contentType: json,
    payload: refTo('GatewayClock'),
  },
  replyRecorded: {
    summary: 'A reply to a form is stored.',
    description:
      'Stream REPLIES. At least once: each `replyId` increments the `replyCount` of its form once, however often it is delivered.',
    contentType: json,
    payload: refTo('ReplyRecorded'),
  },
  requestsCounted: {
    summary: 'The number of requests that a gateway accepted since its previous message, by key.',
    description: 'At most once. Gateways share their rate limits with it.',
    contentType: json,
    payload: refTo('RequestsCounted'),
  },
}
type MessageName = keyof typeof messages

/** The subject of each channel, with its messages. Replies go to inboxes, whose subjects the request names. */
const channels: Record<string, { address: string | null; message: MessageName; parameters?: object }> = {
  formEvents: {
    address: eventSubject('{organizationId}', 'form.{verb}'),
    message: 'formEvent',
    parameters: {
      organizationId: { description: 'UUID of the organization.' },
      verb: {
        description: 'The second part of the type of the event. Ignore verbs that you do not know.',
        examples: eventTypes.map((type) => type.slice('form.'.length)),
      },
    },
  },
  eventsRecorded: { address: EventsRecorded.subject, message: 'eventsRecorded' },
  publishForm: { address: PublishForm.subject, message: 'publishForm' },
  publishReplies: { address: null, message: 'formPublished' },
  publishProbe: { address: publishProbeSubject, message: 'publishProbe' },
  deadLetters: {
    address: deadLetterStream.subjects[0].replace('>', '{kind}'),
    message: 'deadLetter',
    parameters: { kind: { description: 'The kind of the command.', examples: ['form'] } },
  },
  gatewayClock: {
    address: clockInboxOf('_INBOX.gateway.{gateway}.token'),
    message: 'clockRequest',
    parameters: { gateway: { description: 'Id of the process of the gateway.' } },
  },
  clockReplies: { address: null, message: 'gatewayClock' },
  replyRecorded: { address: ReplyRecorded.subject, message: 'replyRecorded' },
  requestsCounted: { address: RequestsCounted.subject, message: 'requestsCounted' },
}

const channelRef = (channel: string) => ({ $ref: `#/channels/${channel}` })

/** What a service does with the messages of a channel. */
const operation = (action: 'send' | 'receive', channel: string, summary: string, more: object = {}) => ({
  action,
  channel: channelRef(channel),
  summary,
  ...more,
})

const replyOn = (channel: string, header?: string) => ({
  reply: {
    ...(header && { address: { location: `$message.header#/${header}` } }),
    channel: channelRef(channel),
  },
})

const operations = {
  sendFormEvent: operation(
    'send',
    'formEvents',
    'The relay of a publisher adds events to the stream EVENTS.',
  ),
  sendEventsRecorded: operation('send', 'eventsRecorded', 'Forms wakes a relay after a change.'),
  receiveEventsRecorded: operation('receive', 'eventsRecorded', 'One publisher relays the events.', {
    bindings: { nats: { queue: relayQueue } },
  }),
  sendPublishForm: operation('send', 'publishForm', 'A gateway publishes a form.', {
    ...replyOn('publishReplies', replyInboxHeader),
  }),
  receivePublishForm: operation('receive', 'publishForm', 'A publisher executes the command and replies.', {
    ...replyOn('publishReplies', replyInboxHeader),
  }),
  sendPublishProbe: operation('send', 'publishProbe', 'A publisher checks the stream.'),
  sendDeadLetter: operation('send', 'deadLetters', 'A publisher discards a command.'),
  sendClockRequest: operation('send', 'gatewayClock', 'A publisher checks the deadline of a command.', {
    ...replyOn('clockReplies'),
  }),
  receiveReplyRecorded: operation('receive', 'replyRecorded', 'Forms counts the reply.'),
  sendRequestsCounted: operation('send', 'requestsCounted', 'A gateway shares its counts.'),
  receiveRequestsCounted: operation('receive', 'requestsCounted', 'Gateways add the counts of others.'),
}

/** Builds the AsyncAPI 3 document of the NATS subjects from the contracts. */
export const buildAsyncApi = () => ({
  asyncapi: '3.1.0',
  info: {
    title: 'Form management on NATS',
    version: '2.0',
    description:
      'Messages between the services, and two subjects for others: `events.{organizationId}.form.{verb}` to follow changes of forms, as the NATS user `events`, and `forms.reply-recorded` to count replies, as the NATS user `replies`. Receivers ignore members that they do not know.',
    license: { name: 'Apache 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
  },
  defaultContentType: json,
  servers: {
    nats: {
      host: 'localhost:4222',
      protocol: 'nats',
      description: 'NATS with JetStream.',
      security: [{ $ref: '#/components/securitySchemes/user' }],
    },
  },
  channels: Object.fromEntries(
    Object.entries(channels).map(([name, { address, message, parameters }]) => [
      name,
      {
        address,
        messages: { [message]: { $ref: `#/components/messages/${message}` } },
        ...(parameters && { parameters }),
      },
    ]),
  ),
  operations,
  components: {
    messages,
    schemas: componentSchemas(payloads),
    securitySchemes: {
      user: { type: 'userPassword', description: 'Each service has a user with its rights.' },
    },
  },
})
