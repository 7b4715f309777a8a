import { randomInt } from 'node:crypto'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const length = 10

/** 10 random letters and digits. Over 8 × 10^17 of them: a repeat is rare, and the store refuses it. */
export const makePublicId = (): string =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
