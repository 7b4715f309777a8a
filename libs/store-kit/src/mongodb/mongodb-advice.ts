import {
  MongoAWSError,
  MongoBulkWriteError,
  MongoCompatibilityError,
  MongoError,
  MongoKerberosError,
  MongoMissingCredentialsError,
  MongoMissingDependencyError,
  MongoOIDCError,
  MongoParseError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
} from 'mongodb'

/** Codes (mongo/base/error_codes.yml) with which a server rejects a user. No label exists for them. */
const authenticationCodes = new Set<unknown>([
  11 /* UserNotFound */, 18 /* AuthenticationFailed */, 334 /* MechanismUnavailable */, 8000 /* AtlasError */,
])
const unauthorizedCode = 13
const diskFullCode = 14031

/** Errors that only another URL, another server or another installation of the driver resolves. */
const configurationErrors = [
  MongoAWSError,
  MongoCompatibilityError,
  MongoKerberosError,
  MongoMissingDependencyError,
  MongoOIDCError,
  MongoParseError,
]

/** Codes of OpenSSL and Node for certificates and TLS handshakes that fail. */
const tlsCode = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_|EPROTO|HOSTNAME_MISMATCH)/

type Coded = Error & { code?: unknown }

const isAuthentication = (error: Coded) =>
  error instanceof MongoMissingCredentialsError ||
  (error instanceof MongoServerError && authenticationCodes.has(error.code))

const isUnauthorized = (error: Coded) => error instanceof MongoServerError && error.code === unauthorizedCode

/** Whether a write was stored, but no majority has confirmed it. A bulk write may report another failed write first. */
export const isUnconfirmed = (error: unknown): boolean =>
  error instanceof MongoWriteConcernError ||
  (error instanceof MongoBulkWriteError && error.result.getWriteConcernError() !== undefined)

/** The driver also labels connections as overloaded that break before their first response. */
const isOverload = (error: Coded) =>
  error instanceof MongoError && error.hasErrorLabel('SystemOverloadedError')

/** The driver removes servers whose replica set has another name. */
const hasNoMember = (error: Coded) =>
  error instanceof MongoServerSelectionError &&
  error.reason?.setName != null &&
  error.reason.servers.size === 0

const hasNoPrimary = (error: Coded) =>
  error instanceof MongoServerSelectionError && error.reason?.type === 'ReplicaSetNoPrimary'

/** What an operator has to check; the first match counts. Never text of the driver, which may include secrets. */
const advices: readonly (readonly [matches: (error: Coded) => boolean, advice: string])[] = [
  [
    isAuthentication,
    'MongoDB rejects its user or password. Check user, password and authSource in the URL, and that the user exists.',
  ],
  [
    isUnauthorized,
    'MongoDB denies a request. Check that the URL names a user, and that the user has the role readWrite on the database.',
  ],
  [
    (error) => configurationErrors.some((type) => error instanceof type),
    'The driver cannot use the URL or the server. Check the options of the URL and the version of MongoDB.',
  ],
  [
    ({ code }) => typeof code === 'string' && tlsCode.test(code),
    'TLS fails. Check tls and tlsCAFile in the URL, and the certificate of MongoDB: its names and its expiry.',
  ],
  [
    ({ code }) => code === 'ENOTFOUND' || code === 'EAI_AGAIN',
    'The host name cannot be resolved. Check the host in the URL, and the DNS.',
  ],
  [
    ({ code }) => code === 'ECONNREFUSED',
    'MongoDB refuses connections. Check that it runs, and host and port in the URL.',
  ],
  [({ code }) => code === diskFullCode, 'The disk of MongoDB is full. Free space, or enlarge it.'],
  [
    isUnconfirmed,
    'MongoDB does not confirm writes by a majority. Check with rs.status() that its members run and replicate.',
  ],
  [hasNoMember, 'No host of the URL belongs to the replica set. Check replicaSet and the hosts in the URL.'],
  [
    hasNoPrimary,
    'The replica set has no primary. Check with rs.status() that a majority of its members runs.',
  ],
  [
    (error) => error instanceof MongoServerError && isOverload(error),
    'MongoDB is overloaded and rejects requests. Check its load, or give it more resources.',
  ],
  [
    isOverload,
    'MongoDB closes new connections. Check tls in the URL, and the load and the limit of connections of MongoDB.',
  ],
]

/** What an operator has to check after an error of the driver; undefined if neither it nor its causes show that. */
export const adviceFor = (error: unknown): string | undefined => {
  const causes = causesOf(error)
  return advices.find(([matches]) => causes.some(matches))?.[1]
}

/** Whether the configuration is the cause: credentials, privileges, URL, version of server or driver. */
export const isConfigurationError = (error: unknown): boolean =>
  causesOf(error).some(
    (cause) =>
      isAuthentication(cause) ||
      isUnauthorized(cause) ||
      configurationErrors.some((type) => cause instanceof type),
  )

/** Causes in a chain; the driver's have at most three. */
const maxCauses = 8

const causesOf = (error: unknown): Coded[] => {
  const causes: Coded[] = []
  for (let cause = error; cause instanceof Error && causes.length < maxCauses; cause = cause.cause) {
    causes.push(cause)
  }
  return causes
}
