import { ApiError } from '@fms/aip'
import { MongoNetworkError } from 'mongodb'
import { describe, expect, it } from 'vitest'
import { translated } from './mongodb-errors.ts'

describe('translated', () => {
  const reset = Object.assign(new Error('write ECONNRESET'), {
    code: 'ECONNRESET',
    syscall: 'write',
    errno: -104,
  })

  it.each([
    ['the error of a socket as the driver passes it on', reset],
    ['an error of the network', new MongoNetworkError('connection 1 closed')],
  ])('makes %s STORE_UNAVAILABLE', (_, error) => {
    const ours = translated(error)
    expect(ours).toBeInstanceOf(ApiError)
    expect(ours).toMatchObject({ status: 'UNAVAILABLE', reason: 'STORE_UNAVAILABLE' })
  })

  it('leaves a defect as it is', () => {
    const defect = new TypeError('undefined is not a function')
    expect(translated(defect)).toBe(defect)
  })
})
