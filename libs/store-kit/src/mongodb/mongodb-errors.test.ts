import { ApiError } from '@fms/aip'
import {
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoCompatibilityError,
  MongoError,
  MongoInvalidArgumentError,
  MongoMissingCredentialsError,
  MongoNetworkError,
  MongoParseError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
  type TopologyDescription,
} from 'mongodb'
import { describe, expect, it } from 'vitest'
import { translateMongodbError } from './mongodb-errors.ts'

const systemError = (code: string, syscall?: string) =>
  Object.assign(new Error(`${syscall} ${code}`), { code, ...(syscall && { syscall }) })

const serverError = (code: number, errorLabels: string[] = []) =>
  new MongoServerError({ errmsg: 'rejected by secret', code, errorLabels })

const labelled = (label: string) => {
  const error = new MongoError('labelled')
  error.addErrorLabel(label)
  return error
}

/** As the driver wraps the error. */
const brokenBulkWrite = new MongoBulkWriteError(
  new MongoNetworkError('connection 1 closed') as unknown as ConstructorParameters<
    typeof MongoBulkWriteError
  >[0],
  { getWriteConcernError: () => undefined } as ConstructorParameters<typeof MongoBulkWriteError>[1],
)

const unconfirmed = new MongoWriteConcernError({
  ok: 1,
  writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' },
})

/** What the driver knew when it found no server. */
const noServer = (reason: object) =>
  new MongoServerSelectionError('Server selection timed out', {
    error: null,
    servers: new Map(),
    setName: null,
    ...reason,
  } as TopologyDescription)

const translate = (error: unknown) => translateMongodbError(error) as ApiError

describe('translateMongodbError', () => {
  it.each<[string, unknown]>([
    ['an error of the socket', systemError('ECONNRESET', 'write')],
    ['a socket that the server has closed', systemError('EPIPE')],
    ['a network error of the driver', new MongoNetworkError('connection 1 closed')],
    ['a bulk write whose connection breaks', brokenBulkWrite],
    ['a closed client', new MongoClientClosedError()],
    ['a write without confirmation of a majority', unconfirmed],
    ['the label RetryableWriteError', labelled('RetryableWriteError')],
    ['the label TransientTransactionError', labelled('TransientTransactionError')],
    ['an overloaded server', serverError(462, ['SystemOverloadedError', 'RetryableError'])],
    ['a primary that steps down during a read', serverError(11602)],
    ['a lost cursor', serverError(43)],
    ['the time limit of a request', serverError(50)],
    ['a rejected password', serverError(18)],
    ['a missing right', serverError(13)],
    ['missing credentials', new MongoMissingCredentialsError('none')],
    ['an invalid record of DNS', new MongoParseError('Text record may only set')],
    ['a server of another age', new MongoCompatibilityError('wire version')],
    ['a name that cannot be resolved', systemError('ENOTFOUND', 'querySrv')],
    ['no server', noServer({})],
  ])('translates %s to STORE_UNAVAILABLE with a delay for the retry', (_, error) => {
    const translated = translate(error)
    expect(translated).toBeInstanceOf(ApiError)
    expect(translated).toMatchObject({
      status: 'UNAVAILABLE',
      reason: 'STORE_UNAVAILABLE',
      httpStatus: 503,
      parts: { retryAfterSeconds: 1, cause: error },
    })
  })

  it.each<[string, unknown]>([
    ['a defect', new TypeError('undefined is not a function')],
    ['an invalid query', serverError(2)],
    ['a duplicate key', serverError(11000)],
    ['a wrong call of the driver', new MongoInvalidArgumentError('Argument "doc" is required')],
    ['the label NoWritesPerformed alone, which names no cause', serverError(2, ['NoWritesPerformed'])],
  ])('returns %s unchanged', (_, error) => {
    expect(translateMongodbError(error)).toBe(error)
  })
})

describe('the advice to operators', () => {
  const network = (cause: Error) => new MongoNetworkError('connection failed', { cause })

  it.each<[string, RegExp, unknown]>([
    ['a rejected password', /user, password and authSource/, serverError(18)],
    ['a password that MongoDB Atlas rejects', /user, password and authSource/, serverError(8000)],
    ['missing credentials', /user, password and authSource/, new MongoMissingCredentialsError('none')],
    ['a missing right', /readWrite/, serverError(13)],
    ['an invalid record of DNS', /options of the URL/, new MongoParseError('secret')],
    ['a server of another age', /version of MongoDB/, new MongoCompatibilityError('wire version')],
    ['an expired certificate', /tlsCAFile/, network(systemError('CERT_HAS_EXPIRED'))],
    ['no TLS', /tlsCAFile/, network(systemError('ERR_SSL_WRONG_VERSION_NUMBER'))],
    ['a wrong host', /host in the URL, and the DNS/, network(systemError('ENOTFOUND', 'getaddrinfo'))],
    [
      'a wrong port, found by the selection of a server',
      /host and port/,
      noServer({ error: network(systemError('ECONNREFUSED', 'connect')) }),
    ],
    ['a full disk', /full/, serverError(14031)],
    ['a majority that does not confirm', /rs\.status/, unconfirmed],
    ['another replica set', /Check replicaSet/, noServer({ type: 'ReplicaSetNoPrimary', setName: 'rs9' })],
    [
      'an election',
      /has no primary/,
      noServer({ type: 'ReplicaSetNoPrimary', setName: 'rs0', servers: new Map([['a:1', {}]]) }),
    ],
    ['overload', /overloaded/, serverError(462, ['SystemOverloadedError'])],
    ['a handshake that breaks', /tls in the URL/, labelled('SystemOverloadedError')],
  ])('after %s says what to check, without a text of the driver', (_, expected, error) => {
    const { advice } = translate(error).parts
    expect(advice).toMatch(expected)
    expect(advice).not.toContain('secret')
  })

  it('is absent where the cause says nothing', () => {
    expect(translate(new MongoNetworkError('connection 1 closed')).parts).not.toHaveProperty('advice')
  })

  it('never leaves the service', () => {
    const error = translate(serverError(18))
    expect(JSON.stringify([error.toBody('r'), error.toProblem()])).not.toMatch(/password|advice/)
  })
})
