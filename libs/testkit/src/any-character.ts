import fc from 'fast-check'

const [firstSurrogate, surrogates, last] = [0xd800, 0x800, 0x10ffff]

const scalarValue = fc
  .integer({ min: 0, max: last - surrogates })
  .map((index) => String.fromCodePoint(index < firstSurrogate ? index : index + surrogates))

const ascii = fc.constantFrom(...Array.from({ length: 0x80 }, (_, point) => String.fromCodePoint(point)))

/**
 * A Unicode scalar value, NUL and those outside the basic plane included; every second one is ASCII. The unit of texts,
 * since that of fast-check (`binary`) builds a map of all characters in each process, which takes 2 s.
 */
export const anyCharacter = fc.oneof(ascii, scalarValue)
