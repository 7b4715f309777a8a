import { FairQueue, type FairQueueOptions, type Flow, type QueueEntry } from '@fms/scheduling'
import { durationBuckets, flowOf, Gauge, Histogram, overloaded, smallBodyBytes } from '@fms/service-kit'
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'

/** Age of a request from which it is authorized again, in milliseconds: a revoked key stops working within a second. */
const reauthorizeAfterMs = 1_000

type Cost = 'ordinary' | 'expensive'

interface Observer {
  observe(seconds: number): void
}

const admissionQueues = new Map<string, Record<Cost, FairQueue>>()

new Gauge({
  name: 'admission_requests',
  help: 'Requests in the admission queue of a service: waiting, or admitted and under way in the service',
  labelNames: ['service', 'cost', 'state'],
  collect() {
    for (const [service, queues] of admissionQueues) {
      for (const [cost, { waiting, held }] of Object.entries(queues)) {
        this.set({ service, cost, state: 'waiting' }, waiting)
        this.set({ service, cost, state: 'admitted' }, held)
      }
    }
  },
})

const waits = new Histogram({
  name: 'admission_wait_seconds',
  help: 'Time that an admitted request has waited in the admission queue of a service',
  labelNames: ['service', 'cost'],
  buckets: durationBuckets,
})

const works = new Histogram({
  name: 'admission_work_seconds',
  help: 'Time that an admitted request has held its seat: the work of the service',
  labelNames: ['service', 'cost'],
  buckets: durationBuckets,
})

export interface Admission {
  flow: Flow
  /** Whether the work is known to be expensive before it begins, which may change while it waits: it has the smaller share. */
  isExpensive?: () => boolean
  /** When its caller disconnects, the request leaves, unless it was admitted. */
  reply?: WaitingReply
  maxWaitMs?: number
  /** Called before the work for a caller whose head arrived over a second ago: its body or its turn came late. */
  reauthorize?: () => Promise<void>
}

/**
 * Admits what a service can work on, in turn over organizations and users; expensive requests have a quarter of the seats,
 * one for a user and two for an organization. The others wait here, where it costs nothing (decision 40).
 */
export class AdmissionQueue {
  readonly #queues: Record<Cost, FairQueue>
  readonly #metrics: Record<Cost, { waits: Observer; works: Observer }>

  constructor(service: string, ordinary: FairQueueOptions) {
    const seats = Math.ceil(ordinary.seats / 4)
    this.#queues = {
      ordinary: new FairQueue(ordinary),
      expensive: new FairQueue({ seats, perOrganization: 2, perUser: 1 }),
    }
    const metricsOf = (cost: Cost) => ({
      waits: waits.labels(service, cost),
      works: works.labels(service, cost),
    })
    this.#metrics = { ordinary: metricsOf('ordinary'), expensive: metricsOf('expensive') }
    admissionQueues.set(service, this.#queues)
  }

  /** Works in turn, and keeps its seat until it is done. Undefined if the caller left before. @throws {ApiError} OVERLOADED */
  async admit<T>(
    { flow, isExpensive = () => false, reply, reauthorize, maxWaitMs: limitMs = maxWaitMs }: Admission,
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    const enteredMs = performance.now()
    const enter = (cost: Cost) => {
      const leftMs = limitMs - (performance.now() - enteredMs)
      return waitForSeats(this.#queues[cost], flow, { maxWaitMs: leftMs, reply })
    }
    let cost: Cost = isExpensive() ? 'expensive' : 'ordinary'
    let entry = await enter(cost)
    if (entry && cost === 'ordinary' && isExpensive()) {
      this.#queues.ordinary.leave(entry)
      cost = 'expensive'
      entry = await enter(cost)
    }
    if (!entry && reply?.hasEnded) return undefined
    if (!entry) throw overloaded()
    const queue = this.#queues[cost]
    const admittedMs = performance.now()
    const metrics = this.#metrics[cost]
    metrics.waits.observe((admittedMs - enteredMs) / 1000)
    try {
      if (reauthorize && reply && reply.elapsedTime >= reauthorizeAfterMs) await reauthorize()
      return await work()
    } finally {
      metrics.works.observe((performance.now() - admittedMs) / 1000)
      queue.leave(entry)
    }
  }
}

/** How long a request may wait for a seat, or for memory, in milliseconds. */
export const maxWaitMs = 5_000

/** A Fastify reply whose request waits. */
export interface WaitingReply {
  /** Whether the caller has its response, or has disconnected. */
  readonly hasEnded: boolean
  /** Time since the head of its request, in milliseconds. */
  readonly elapsedTime: number
  onDisconnect: (() => void) | undefined
  waitedMs?: number | undefined
}

export interface WaitOptions {
  maxWaitMs: number
  /** When its caller disconnects, the request leaves the queue. */
  reply?: WaitingReply | undefined
  /** Seats to hold; 1 by default. */
  seats?: number
}

/** Waits for seats in a queue. @returns undefined when the time is over, or the caller has disconnected. */
export const waitForSeats = (
  queue: FairQueue,
  flow: Flow,
  { maxWaitMs, reply, seats }: WaitOptions,
): Promise<QueueEntry | undefined> =>
  new Promise((resolve) => {
    if (reply?.hasEnded) return resolve(undefined)
    let timer: NodeJS.Timeout | undefined
    let enteredMs: number
    const settle = (entry?: QueueEntry) => {
      clearTimeout(timer)
      if (timer && reply) {
        reply.onDisconnect = undefined
        reply.waitedMs = (reply.waitedMs ?? 0) + performance.now() - enteredMs
      }
      resolve(entry)
    }
    const entry = queue.enter(flow, settle, seats)
    if (entry.state !== 'waiting') return
    enteredMs = performance.now()
    const leave = () => {
      queue.leave(entry)
      settle()
    }
    // Spread over time: requests that came at once would otherwise fail in one iteration of the event loop, and come back so.
    timer = setTimeout(leave, maxWaitMs * (0.75 + Math.random() / 4))
    if (reply) reply.onDisconnect = leave
  })

/** Items of a page, skipped ones included, up to which it is ordinary. */
const maxOrdinaryItems = 100

/** Lists of organizations whose last page was short: the next ones are expected to be. Others are expensive until then. */
const ordinaryLists = new LRUCache<string, true>({ max: 10_000 })

/** Forms and revisions whose last response was long, or of which a long draft was patched: further requests are expensive. */
const expensiveResources = new LRUCache<string, true>({ max: 10_000 })

/** The form or revision of a request, in lower case; undefined for other resources. */
const resourceOf = ({ identity, params }: FastifyRequest): string | undefined => {
  const { formRef, revisionRef = '' } = params as Record<string, string | undefined>
  return formRef && `${identity.organizationId}/${formRef}/${revisionRef}`.toLowerCase()
}

const listOf = ({ identity, routeOptions }: FastifyRequest): string =>
  `${flowOf(identity).organization} ${routeOptions.url}`

const isMasked = ({ query }: FastifyRequest) => (query as { readMask?: string }).readMask !== undefined

/**
 * Remembers whether a request was expensive: its response was long, over 256 KiB, or it patched a long draft. Masked reads are
 * ignored. Only a patch shows that a form is no longer long: the draft after a short read may still make patches expensive.
 */
export const rememberCost = (request: FastifyRequest, wasExpensive: boolean): void => {
  const { method, routeOptions } = request
  if (isMasked(request)) return
  if (routeOptions.config.operation!.cost === 'list') {
    if (wasExpensive) ordinaryLists.delete(listOf(request))
    else if (method === 'GET') ordinaryLists.set(listOf(request), true)
    return
  }
  if (!wasExpensive && method !== 'PATCH') return
  const resource = resourceOf(request)
  if (resource && wasExpensive) expensiveResources.set(resource, true)
  else if (resource) expensiveResources.delete(resource)
}

/** A mask is cut from the whole resource, whatever its length. */
const isExpensiveResource = (request: FastifyRequest): boolean =>
  isMasked(request) || (expensiveResources.size > 0 && expensiveResources.has(resourceOf(request) ?? ''))

export const isExpensive = (request: FastifyRequest): boolean => {
  const { body, query, routeOptions } = request
  const { cost } = routeOptions.config.operation!
  if (cost === 'expensive' || (Buffer.isBuffer(body) && body.length > smallBodyBytes)) return true
  if (cost !== 'list') return isExpensiveResource(request)
  if (!ordinaryLists.has(listOf(request))) return true
  const { filter, pageSize = 0, skip = 0 } = query as { filter?: string; pageSize?: string; skip?: string }
  return filter !== undefined || Number(pageSize) + Number(skip) > maxOrdinaryItems
}
