import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { createApp } from './create-app.ts'

it('lets an app close after a request under way, whose client keeps its connection', async () => {
  const app = createApp({ logger: pino({ level: 'silent' }) })
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<object>()
  app.get('/slow', () => {
    asked.resolve()
    return answer.promise
  })
  const origin = await app.listen({ port: 0 })
  const sent = request(`${origin}/slow`, { agent: new Agent({ keepAlive: true }) }).end()
  await asked.promise

  const closed = app.close()
  answer.resolve({})

  const [response] = await once(sent, 'response')
  expect(response.resume().statusCode).toBe(200)
  await closed
})
