import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { ReplyRecorded } from '@fms/contracts'
import { connectNats } from '@fms/service-kit'
import { jetstream } from '@nats-io/jetstream'

/** Pause between two replies, in milliseconds. */
const pauseMs = 100

/**
 * Records replies to a form, one at a time, as the respondents' side does.
 *
 * @param url of the NATS user `replies`.
 * @returns how many replies the stream has acknowledged.
 */
export const recordReplies = async (
  url: string,
  form: { organizationId: string; formId: string },
  signal: AbortSignal,
): Promise<number> => {
  const nats = await connectNats(url, 'replies')
  let recorded = 0
  try {
    for (; !signal.aborted; recorded++) {
      const reply = ReplyRecorded.encode({ replyId: randomUUID(), ...form })
      await jetstream(nats).publish(ReplyRecorded.subject, reply)
      await delay(pauseMs)
    }
  } finally {
    await nats.close()
  }
  return recorded
}
