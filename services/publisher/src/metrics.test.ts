import { ApiError } from '@fms/aip'
import { expect, it } from 'vitest'
import { commandFor, givenForm, type StoreCall, startPublishing, waitFor } from './testing.ts'

it('counts and logs each delivery of a redelivered command', async () => {
  await using publishing = await startPublishing()
  let calls = 0
  const around = async ({ method, proceed }: StoreCall) => {
    if (method !== 'ping' && ++calls === 1) throw new ApiError('UNAVAILABLE', 'STORE_UNAVAILABLE', 'away')
    return proceed()
  }
  const { app, lines } = await publishing.publisher({ around })
  const form = await givenForm(publishing.forms)
  const command = commandFor(form)

  const { reply } = await publishing.send(command, { 'x-request-id': 'mine' })
  expect(await reply).toMatchObject({ outcome: 'published' })
  await publishing.idle()

  const { body } = await app.inject('/metrics')
  for (const sample of [
    'publish_commands_total{outcome="published"} 1',
    'publish_commands_total{outcome="retried"} 1',
    'publish_commands_total{outcome="dead"} 0',
    'publish_redeliveries_total 1',
    'publish_command_duration_seconds_count{outcome="retried"} 1',
    'nats_stream_messages{stream="PUBLISH"} 0',
  ])
    expect(body.split('\n')).toContain(sample)
  const about = {
    request_id: 'mine',
    command: command.commandId,
    user: command.userId,
    organization: form.organizationId,
    form: form.formId,
    duration_ms: expect.any(Number),
  }
  expect(lines[0]).not.toHaveProperty('err')
  expect(lines).toMatchObject([
    { ...about, level: 20, deliveries: 1, msg: 'store unavailable', reason: 'STORE_UNAVAILABLE' },
    { ...about, level: 30, deliveries: 2, msg: 'published' },
  ])
})

it('reports in /metrics that NATS is unreachable', async () => {
  await using publishing = await startPublishing()
  const { app } = await publishing.publisher()
  const hasSample = async (sample: string) =>
    (await app.inject('/metrics')).body.split('\n').includes(sample) || undefined
  expect(await hasSample('nats_connected{client="publisher"} 1')).toBe(true)

  await publishing.server.stop()

  await waitFor(() => hasSample('nats_connected{client="publisher"} 0'))
  expect((await app.inject('/metrics')).body).not.toContain('nats_stream_messages{')
})
