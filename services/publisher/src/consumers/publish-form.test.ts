import { setTimeout as delay } from 'node:timers/promises'
import { ApiError, apiError } from '@fms/aip'
import { deadLetterReasonHeader, deadlineHeader, PublishForm, replyInboxHeader } from '@fms/contracts'
import { describe, expect, it, vi } from 'vitest'
import {
  commandFor,
  draftOf,
  givenForm,
  type Publisher,
  type Publishing,
  revisionsOf,
  type StoreCall,
  startPublishing,
} from '../testing.ts'

describe('publish.form', () => {
  it('gets a reply on its inbox, and is acked', async () => {
    await using publishing = await startPublishing()
    const publisher = await publishing.publisher()
    const form = await givenForm(publishing.forms)

    const { reply } = await publishing.send(commandFor(form))

    expect(await reply).toMatchObject({
      outcome: 'published',
      etag: '"1-live.0"',
      form: { path: `organizations/${form.organizationId}/forms/${form.formId}`, live: true },
    })
    expect(await revisionsOf(publishing.forms, form)).toEqual({ numbers: [1], live: [1] })
    await publishing.idle()
    expect(publisher.handled).toEqual({ published: 1 })
    expect(await deadLetters(publishing)).toBe(0)
  })

  it('of a later release with unknown members is published', async () => {
    await using publishing = await startPublishing()
    await publishing.publisher()
    const form = await givenForm(publishing.forms)
    const command = JSON.parse(new TextDecoder().decode(PublishForm.encode(commandFor(form))))

    const { reply } = await publishing.send(
      new TextEncoder().encode(JSON.stringify({ ...command, note: 'x' })),
    )

    expect(await reply).toMatchObject({ outcome: 'published' })
    expect(await deadLetters(publishing)).toBe(0)
  })

  it('that fails a check is acked, and then gets a reply with the problem', async () => {
    await using publishing = await startPublishing()
    const publisher = await publishing.publisher()
    const form = await givenForm(publishing.forms, { draft: draftOf({ steps: [] }) })
    const { protocol } = publisher.nats as unknown as { protocol: { publish(subject: string): void } }
    const sending = vi.spyOn(protocol, 'publish')

    const { reply } = await publishing.send(commandFor(form))

    expect(await reply).toEqual({
      outcome: 'refused',
      problem: expect.objectContaining({
        status: 'FAILED_PRECONDITION',
        reason: 'DRAFT_NOT_PUBLISHABLE',
        preconditionViolations: [expect.objectContaining({ subject: 'form.steps' })],
      }),
    })
    const subjects = sending.mock.calls.map(([subject]) => subject)
    expect(subjects.filter((subject) => /^(\$JS\.ACK|_INBOX\.gateway)\./.test(subject)).slice(-2)).toEqual([
      expect.stringMatching(/^\$JS\.ACK\.PUBLISH\./),
      expect.stringMatching(/^_INBOX\.gateway\./),
    ])
    await publishing.idle()
    expect(publisher.handled).toEqual({ refused: 1 })
    expect(await deadLetters(publishing)).toBe(0)
  })

  it('treats ids as case-insensitive', async () => {
    await using publishing = await startPublishing()
    await publishing.publisher()
    const form = await givenForm(publishing.forms)
    const command = commandFor(form)
    const upperCase = {
      ...command,
      commandId: command.commandId.toUpperCase(),
      organizationId: command.organizationId.toUpperCase(),
      formRef: command.formRef.toUpperCase(),
    }

    const first = await publishing.send(command)
    const again = await publishing.send(upperCase)

    expect(await again.reply).toEqual(await first.reply)
    expect((await revisionsOf(publishing.forms, form)).numbers).toHaveLength(1)
  })

  it('sent twice with one id gets two replies, and is published once', async () => {
    await using publishing = await startPublishing()
    await publishing.publisher()
    const form = await givenForm(publishing.forms)
    const command = commandFor(form)

    const sent = await Promise.all([publishing.send(command), publishing.send(command)])

    const [first, second] = await Promise.all(sent.map(({ reply }) => reply))
    expect(second).toEqual(first)
    expect((await revisionsOf(publishing.forms, form)).numbers).toHaveLength(1)
  })

  it('replies with a form of 768 KiB', async () => {
    await using publishing = await startPublishing()
    await publishing.publisher()
    const room = 768 * 1024 - Buffer.byteLength(JSON.stringify(draftOf({ context: ['"'] })))
    const form = await givenForm(publishing.forms, {
      draft: draftOf({ context: ['"'.repeat(1 + room / 2)] }),
    })

    const { reply } = await publishing.send(commandFor(form))

    expect(await reply).toMatchObject({ outcome: 'published' })
  })
})

describe('an unreadable publish.form', () => {
  const readable = PublishForm.encode(commandFor({ organizationId: uuid(1), formId: uuid(2) }))
  const changed = (fields: object) =>
    new TextEncoder().encode(JSON.stringify({ ...JSON.parse(new TextDecoder().decode(readable)), ...fields }))

  it.each([
    ['no JSON', new TextEncoder().encode('{')],
    ['nothing', new Uint8Array()],
    ['invalid UTF-8', Uint8Array.of(0x22, 0xff, 0x22)],
    ['no command id', changed({ commandId: undefined })],
    ['no UUID', changed({ organizationId: 'acme' })],
  ])('(%s) becomes an unchanged dead letter', async (_, bytes) => {
    await using publishing = await startPublishing()
    const publisher = await publishing.publisher()

    await publishing.send(bytes, { 'x-request-id': 'r-1' })

    const letter = await publishing.deadLetter()
    expect(letter.reason).toBe('malformed')
    expect(letter.header('x-request-id')).toBe('r-1')
    expect(letter.header(replyInboxHeader)).toMatch(/^_INBOX\.gateway\./)
    expect(Buffer.from(letter.data)).toEqual(Buffer.from(bytes))
    await publishing.idle()
    expect(publisher.handled).toEqual({ 'unreadable command': 1 })
    expect(publishing.replies).toEqual([])
  })

  it('cannot choose its dead letter reason', async () => {
    await using publishing = await startPublishing()
    await publishing.publisher()

    await publishing.send(new Uint8Array(), { [deadLetterReasonHeader]: 'mine' })

    expect((await publishing.deadLetter()).reason).toBe('malformed')
  })
})

describe('a publish.form while the store is unavailable', () => {
  it.each(['before', 'after'])(
    '%s its revision is stored comes again, each time later, until it succeeds',
    async (when) => {
      await using publishing = await startPublishing()
      const times: number[] = []
      const publisher = await publishing.publisher({
        around: async ({ method, proceed }) => {
          if (method !== 'publish') return proceed()
          times.push(performance.now())
          if (times.length <= 2 && when === 'before') throw unavailable()
          const result = await proceed()
          if (times.length <= 2) throw unavailable()
          return result
        },
      })
      const form = await givenForm(publishing.forms)

      const { reply } = await publishing.send(commandFor(form))

      expect(await reply).toMatchObject({ outcome: 'published' })
      const { numbers, live } = await revisionsOf(publishing.forms, form)
      expect(numbers).toHaveLength(1)
      expect(live).toEqual(numbers)
      const [first, second, third] = times as [number, number, number]
      expect(second - first).toBeGreaterThanOrEqual(95)
      expect(third - second).toBeGreaterThanOrEqual(195)
      await publishing.idle()
      expect(publisher.handled).toEqual({ 'store unavailable': 2, published: 1 })
    },
  )

  it('gets a reply at once if the disk is full', async () => {
    await using publishing = await startPublishing()
    const publisher = await publishing.publisher({
      around: async ({ method, proceed }) => {
        if (method === 'publish') throw apiError('STORAGE_FULL', {})
        return proceed()
      },
    })
    const form = await givenForm(publishing.forms)

    const { reply } = await publishing.send(commandFor(form))

    expect(await reply).toEqual({
      outcome: 'refused',
      problem: expect.objectContaining({ status: 'UNAVAILABLE', reason: 'STORAGE_FULL' }),
    })
    await publishing.idle()
    expect(publisher.handled).toEqual({ refused: 1 })
  })

  it('until its deadline is given up then, without a reply or a dead letter', async () => {
    await using publishing = await startPublishing()
    const publisher = await publishing.publisher({
      around: async ({ method, proceed }) => {
        if (method === 'publish') throw unavailable()
        return proceed()
      },
    })
    const form = await givenForm(publishing.forms)
    const late = await lateCommands(publisher)

    await publishing.send(commandFor(form), {}, 3_000)

    await publishing.idle()
    expect(publisher.handled['store unavailable']).toBeGreaterThan(1)
    expect(await lateCommands(publisher)).toBe(late + 1)
    expect(publishing.replies).toEqual([])
    expect(await deadLetters(publishing)).toBe(0)
    expect(await revisionsOf(publishing.forms, form)).toEqual({ numbers: [], live: [] })
  })
})

describe('a publish.form that loses to other writes', () => {
  it('is published by a redelivery', async () => {
    await using publishing = await startPublishing()
    let attempts = 0
    const publisher = await publishing.publisher({
      around: async ({ method, proceed }) => {
        if (method === 'publish' && ++attempts === 1) throw aborted()
        return proceed()
      },
    })
    const form = await givenForm(publishing.forms)

    const { reply } = await publishing.send(commandFor(form))

    expect(await reply).toMatchObject({ outcome: 'published' })
    await publishing.idle()
    expect(publisher.handled).toEqual({ 'write conflicts': 1, published: 1 })
  })

  it('gets the reply UPDATE_ABORTED when a redelivery would be late', async () => {
    await using publishing = await startPublishing()
    await publishing.publisher({
      around: async ({ method, proceed }) => {
        if (method === 'publish') throw aborted()
        return proceed()
      },
    })
    const form = await givenForm(publishing.forms)

    const { reply } = await publishing.send(commandFor(form), {}, 3_000)

    expect(await reply).toMatchObject({ outcome: 'refused', problem: { reason: 'UPDATE_ABORTED' } })
    expect(await revisionsOf(publishing.forms, form)).toEqual({ numbers: [], live: [] })
  })
})

describe('a publish.form that causes an unexpected error', () => {
  it('gets the reply INTERNAL before its deadline, and becomes a dead letter', async () => {
    await using publishing = await startPublishing()
    const publisher = await publishing.publisher({ around: broken })
    const form = await givenForm(publishing.forms)
    const command = commandFor(form)

    // The fifth delivery is the last one, half a second or more before the deadline.
    const { reply } = await publishing.send(command, {}, 2_750)

    expect(await reply).toEqual({
      outcome: 'refused',
      problem: expect.objectContaining({ status: 'INTERNAL', reason: 'INTERNAL' }),
    })
    expect(JSON.stringify(await reply)).not.toContain('secret')
    const letter = await publishing.deadLetter()
    expect(letter.reason).toBe('defect')
    expect(PublishForm.decode(letter.data)).toEqual(command)
    await publishing.idle()
    expect(Object.keys(publisher.handled)).toEqual(['unexpected error'])
    expect(publisher.handled['unexpected error']).toBeGreaterThan(1)
    expect(publishing.replies).toHaveLength(1)
  })

  it('five times is published by the sixth delivery, before its deadline', async () => {
    await using publishing = await startPublishing()
    let calls = 0
    const publisher = await publishing.publisher({
      around: ({ method, proceed }) =>
        method === 'publish' && ++calls <= 5 ? broken({ method }) : proceed(),
    })
    const form = await givenForm(publishing.forms)

    const { reply } = await publishing.send(commandFor(form))

    expect(await reply).toMatchObject({ outcome: 'published' })
    await publishing.idle()
    expect(publisher.handled).toEqual({ 'unexpected error': 5, published: 1 })
    expect(await deadLetters(publishing)).toBe(0)
  })

  it('does not delay other commands', async () => {
    await using publishing = await startPublishing()
    const form = await givenForm(publishing.forms)
    const ill = await givenForm(publishing.forms)
    await publishing.publisher({
      around: async ({ method, args, proceed }) =>
        method === 'publish' && JSON.stringify(args).includes(ill.formId) ? broken({ method }) : proceed(),
    })

    await publishing.send(commandFor(ill))
    const { reply } = await publishing.send(commandFor(form))

    await reply
    expect(publishing.replies).toHaveLength(1)
  })
})

describe('a publish.form past its deadline', () => {
  it('is discarded without a call of the store, a dead letter or a reply', async () => {
    await using publishing = await startPublishing()
    const calls: string[] = []
    const publisher = await publishing.publisher({
      around: ({ method, proceed }) => {
        if (method !== 'ping') calls.push(method)
        return proceed()
      },
    })
    const form = await givenForm(publishing.forms)

    await publishing.send(commandFor(form), {}, 0)

    await publishing.idle()
    expect(await revisionsOf(publishing.forms, form)).toEqual({ numbers: [], live: [] })
    expect(calls).toEqual([])
    expect(publishing.replies).toEqual([])
    expect(await deadLetters(publishing)).toBe(0)
    expect(await lateCommands(publisher)).toBeGreaterThan(0)
  })

  it('by the time the store runs it publishes nothing', async () => {
    await using publishing = await startPublishing()
    await publishing.publisher({
      around: async ({ method, proceed }) => {
        if (method === 'publish') await delay(400)
        return proceed()
      },
    })
    const form = await givenForm(publishing.forms)

    await publishing.send(commandFor(form), {}, 300)

    await publishing.idle()
    expect(await revisionsOf(publishing.forms, form)).toEqual({ numbers: [], live: [] })
    expect(publishing.replies).toEqual([])
  })

  it('is discarded if its gateway is gone', async () => {
    await using publishing = await startPublishing()
    await publishing.publisher()
    const form = await givenForm(publishing.forms)

    await publishing.send(commandFor(form), { [replyInboxHeader]: '_INBOX.gateway.gone.1' })
    const { reply } = await publishing.send(commandFor(form))

    await reply
    await publishing.idle()
    expect(await revisionsOf(publishing.forms, form)).toEqual({ numbers: [1], live: [1] })
  })

  it('counts as late without the header of the deadline', async () => {
    await using publishing = await startPublishing()
    await publishing.publisher()
    const form = await givenForm(publishing.forms)

    await publishing.send(commandFor(form), { [deadlineHeader]: undefined })

    await publishing.idle()
    expect((await revisionsOf(publishing.forms, form)).numbers).toEqual([])
  })

  it('expires from the queue while no publisher runs', async () => {
    await using publishing = await startPublishing()
    const form = await givenForm(publishing.forms)
    await (await publishing.publisher({ publishTimeoutMs: 200 })).app.close()

    await Promise.all(Array.from({ length: 100 }, () => publishing.send(commandFor(form), {}, 200)))

    await publishing.idle()
  })

  it('does not delay a command in time behind 500 late ones', async () => {
    await using publishing = await startPublishing()
    await (await publishing.publisher()).app.close()
    const form = await givenForm(publishing.forms)
    const late = commandFor(form)
    await Promise.all(Array.from({ length: 500 }, () => publishing.send(late, {}, 0)))

    await publishing.publisher({ wait: false })
    const { reply } = await publishing.send(commandFor(form))

    expect(await reply).toMatchObject({ outcome: 'published' })
    expect(await revisionsOf(publishing.forms, form)).toEqual({ numbers: [1], live: [1] })
  })
})

describe('a publish.form that can never succeed, while no dead letter can be stored,', () => {
  it('is removed from the queue nevertheless', async () => {
    await using publishing = await startPublishing()
    const publisher = await publishing.publisher()
    await publishing.manager.streams.delete('PUBLISH_DEAD')

    await publishing.send(new Uint8Array())

    await publishing.idle()
    expect(publisher.handled).toEqual({
      'unreadable command': 1,
      'dead letter could not be stored': 1,
    })
  })
})

/** Number of late commands in the publisher's metrics. */
const lateCommands = async ({ app }: Publisher) => {
  const { body } = await app.inject('/metrics')
  return Number(/publish_commands_total{outcome="late"} (\d+)/.exec(body)![1])
}

const unavailable = () => new ApiError('UNAVAILABLE', 'STORE_UNAVAILABLE', 'The store is unavailable.')

const aborted = () => new ApiError('ABORTED', 'UPDATE_ABORTED', 'Other writes changed the form.')

const broken = async ({ method }: Pick<StoreCall, 'method'>) => {
  if (method === 'ping') return
  throw new TypeError('secret')
}

const deadLetters = async ({ manager }: Publishing) =>
  (await manager.streams.info('PUBLISH_DEAD')).state.messages

function uuid(digit: number) {
  return `0000000${digit}-0000-4000-8000-000000000000`
}
