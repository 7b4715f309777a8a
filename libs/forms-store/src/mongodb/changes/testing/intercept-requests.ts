import type { MongoCollection, MongoDocument } from '@fms/store-kit/mongodb'
import type { FormsCollections } from '../../documents.ts'

/** Runs a request, whose name is that of its collection and its method: may delay it, fail before it, or fail after it. */
export type Intercept = <R>(request: () => Promise<R>, name: string) => Promise<R>

/** Collections whose requests, reads included, go through `intercept`. A `find` is one request. */
export const interceptRequests = (collections: FormsCollections, intercept: Intercept): FormsCollections =>
  Object.fromEntries(
    Object.entries(collections).map(([name, collection]) => [name, proxyOf(name, collection, intercept)]),
  ) as unknown as FormsCollections

const proxyOf = <T extends MongoDocument>(
  collectionName: string,
  collection: MongoCollection<T>,
  intercept: Intercept,
) =>
  new Proxy(collection, {
    get(target, method) {
      const name = `${collectionName}.${String(method)}`
      if (method === 'find') {
        return async function* (...parameters: Parameters<MongoCollection<T>['find']>) {
          yield* await intercept(() => Array.fromAsync(target.find(...parameters)), name)
        }
      }
      const value: unknown = Reflect.get(target, method)
      if (typeof value !== 'function') return value
      return (...parameters: unknown[]) => intercept(() => Reflect.apply(value, target, parameters), name)
    },
  })
