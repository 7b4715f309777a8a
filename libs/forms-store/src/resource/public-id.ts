import { randomInt } from 'node:crypto'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const length = 10

/** A random public id of 10 letters and digits. There are over 8 × 10^17; the store rejects the rare duplicate. */
export const makePublicId = (): string =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
