import type { MongoCollection, MongoDocument } from '@fms/store-kit/mongodb'
import type { FormsCollections } from '../../documents.ts'

/** Runs a request: may delay it, fail before it, or fail after it. */
export type Intercept = <R>(request: () => Promise<R>) => Promise<R>

/** Collections whose requests, reads included, go through `intercept`. A `find` is one request. */
export const interceptRequests = (collections: FormsCollections, intercept: Intercept): FormsCollections =>
  Object.fromEntries(
    Object.entries(collections).map(([name, collection]) => [name, proxyOf(collection, intercept)]),
  ) as unknown as FormsCollections

const proxyOf = <T extends MongoDocument>(collection: MongoCollection<T>, intercept: Intercept) =>
  new Proxy(collection, {
    get(target, name) {
      if (name === 'find') {
        return async function* (...parameters: Parameters<MongoCollection<T>['find']>) {
          yield* await intercept(() => Array.fromAsync(target.find(...parameters)))
        }
      }
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return (...parameters: unknown[]) => intercept(() => Reflect.apply(method, target, parameters))
    },
  })
