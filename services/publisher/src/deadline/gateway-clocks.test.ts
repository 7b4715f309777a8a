import { GatewayClock } from '@fms/contracts'
import { connectNats } from '@fms/service-kit'
import { expect, it } from 'vitest'
import { startPublishing } from '../testing.ts'
import { createGatewayClocks } from './gateway-clocks.ts'

it('reads the clock of a gateway that reconnects after its publisher', async () => {
  await using publishing = await startPublishing()
  const { gateway, server } = publishing
  const publisher = await connectNats(server.urls.publisher, 'publisher')
  const inbox = '_INBOX.gateway.late.clock'
  const clocks = createGatewayClocks(publisher)
  const isPast = () => clocks(inbox).isPast(performance.now() + 60_000)

  await expect(isPast()).rejects.toThrow('no responders')
  gateway.subscribe(inbox, {
    callback: (_, message) => void message.respond(GatewayClock.encode({ nowMs: performance.now() })),
  })
  await gateway.flush()

  expect(await isPast()).toBe(false)
  await publisher.close()
})
