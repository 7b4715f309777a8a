import { ApiError } from '@fms/aip'
import { MongoNetworkError } from 'mongodb'
import { describe, expect, it } from 'vitest'
import { translateMongodbError } from './mongodb-errors.ts'

describe('translateMongodbError', () => {
  const reset = Object.assign(new Error('write ECONNRESET'), {
    code: 'ECONNRESET',
    syscall: 'write',
    errno: -104,
  })

  it.each([
    ['an error of the socket', reset],
    ['a network error of the driver', new MongoNetworkError('connection 1 closed')],
  ])('translates %s to STORE_UNAVAILABLE', (_, error) => {
    const translated = translateMongodbError(error)
    expect(translated).toBeInstanceOf(ApiError)
    expect(translated).toMatchObject({ status: 'UNAVAILABLE', reason: 'STORE_UNAVAILABLE' })
  })

  it('returns a defect unchanged', () => {
    const defect = new TypeError('undefined is not a function')
    expect(translateMongodbError(defect)).toBe(defect)
  })
})
