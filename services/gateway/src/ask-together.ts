import { isTracing } from '@fms/service-kit'
import type { FastifyRequest } from 'fastify'
import type { Answer } from './gather.ts'
import type { Ask } from './proxy.ts'

/** Of one caller. */
export type Several = [FastifyRequest, ...FastifyRequest[]]

export interface Together {
  /** Which of the GETs may go with others. */
  fits?: (request: FastifyRequest) => boolean
  /** So many go at once, and further ones wait until those are answered. By default any number, and none waits. */
  atOnce?: number
  /**
   * Asks for two or more of one caller, and so of one organization.
   *
   * @returns their answers in the same order; one that has none asks by itself, which gives it the answer under its own id.
   */
  ask: (requests: Several) => Promise<(Answer | undefined)[]>
}

interface Waiting {
  request: FastifyRequest
  resolve: (answer: Answer | Promise<Answer>) => void
  reject: (error: unknown) => void
}

/**
 * GETs of one caller that arrive in the same turn of the event loop go on as one question. One that is alone goes its own
 * way, and so does everything that is no GET.
 */
export const askTogether = ({ fits = () => true, atOnce, ask }: Together, alone: Ask): Ask => {
  /** By token, which speaks for one caller: those that are not asked for yet. */
  const queues = new Map<string, Waiting[]>()

  const askOn = async (token: string) => {
    const queue = queues.get(token)!
    if (atOnce === undefined) void answer(queue)
    else while (queue.length > 0) await answer(queue.splice(0, atOnce))
    queues.delete(token)
  }

  const answer = async (waiting: Waiting[]) => {
    try {
      const requests = waiting.map(({ request }) => request)
      const answers = isSeveral(requests) ? await ask(requests) : []
      for (const [index, { request, resolve }] of waiting.entries()) resolve(answers[index] ?? alone(request))
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }

  return (request) => {
    if (request.method !== 'GET' || isTracing() || !fits(request)) return alone(request)
    return new Promise((resolve, reject) => {
      const token = request.caller.token()
      const waiting = { request, resolve, reject }
      const queue = queues.get(token)
      if (queue) {
        queue.push(waiting)
        return
      }
      queues.set(token, [waiting])
      setImmediate(askOn, token)
    })
  }
}

const isSeveral = (requests: FastifyRequest[]): requests is Several => requests.length > 1
